/* Memory that is needed and that nobody can do without. */
#ifndef HD_BASE_MEMORY_H
#define HD_BASE_MEMORY_H

/* Where ptr is NULL the process ends with status 1, after a line on standard error. */
#define HD_MEMORY(ptr) ((ptr) ? (void)0 : hd_no_memory())
_Noreturn void hd_no_memory(void);

#endif
