
BlogitsJ(‡,ÏÁK!¦ÁOÉÁSþ+À×CKÁ£(A×CËÀ»ZrÁ€¡Á1ŠÁ