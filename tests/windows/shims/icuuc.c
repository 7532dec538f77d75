/* icuuc.dll as far as Qt imports it, which Windows has and Wine has not: there is no converter. For tests alone. */
#define EXPORT __declspec(dllexport)
#define FAILS(name) \
    EXPORT void *name(const char *argument, int *error) \
    { \
        (void)argument; \
        if (error) \
            *error = 4; /* U_FILE_ACCESS_ERROR */ \
        return 0; \
    }
#define NOTHING(name) \
    EXPORT void *name(void) \
    { \
        return 0; \
    }

FAILS(ucnv_open)
FAILS(ucnv_getName)
FAILS(ucnv_getStandardName)
NOTHING(ucnv_close)
NOTHING(ucnv_reset)
NOTHING(ucnv_countAvailable)
NOTHING(ucnv_getAvailableName)
NOTHING(ucnv_getMaxCharSize)
NOTHING(ucnv_getToUCallBack)
NOTHING(ucnv_getFromUCallBack)
NOTHING(ucnv_setToUCallBack)
NOTHING(ucnv_setFromUCallBack)
NOTHING(ucnv_cbToUWriteUChars)
NOTHING(ucnv_cbFromUWriteUChars)
NOTHING(ucnv_toUnicode)
NOTHING(ucnv_fromUnicode)
NOTHING(ucnv_toUCountPending)
NOTHING(ucnv_fromUCountPending)
NOTHING(UCNV_FROM_U_CALLBACK_SUBSTITUTE)
NOTHING(UCNV_TO_U_CALLBACK_SUBSTITUTE)

int DllMainCRTStartup(void *instance, unsigned reason, void *reserved)
{
    (void)instance, (void)reason, (void)reserved;
    return 1;
}
