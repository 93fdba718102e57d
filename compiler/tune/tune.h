/* heddle tune: schedules per operation, ranked by a cost model, measured, and kept in a database.
 */
#ifndef HD_TUNE_H
#define HD_TUNE_H

#include "compiler/command/command.h"

int hd_tune(struct hd_cmd *c);

#endif
