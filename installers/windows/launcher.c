/* underhill.exe and, with -DTERMINAL, underhill-cli.exe: start launch.py of their own folder on the Python beside it.

   What the command line says is passed on as it is. The terminal's waits, hands on the exit code, leaves Ctrl+C to
   Python, and takes it along when it is ended itself. The window's ends at once, as a window needs no console. */
#define UNICODE
#define _WIN32_WINNT 0x0A00
#include <windows.h>
#include <stdlib.h>
#include <wchar.h>

#define LONGEST 32768 /* characters: of a path, and of a command line with its end */
#define MISSING 1     /* exit code */
#ifdef TERMINAL
#define PROGRAM L"python.exe"
#define OPTION L" --cli"
#else
#define PROGRAM L"pythonw.exe"
#define OPTION L""
#endif

static WCHAR folder[LONGEST], python[LONGEST], line[LONGEST]; /* folder ends in \ */

static int exists(const WCHAR *path)
{
    return GetFileAttributesW(path) != INVALID_FILE_ATTRIBUTES;
}

/* Writes a path made of three parts; 0 where it would be too long. */
static int join(WCHAR *path, const WCHAR *first, const WCHAR *second, const WCHAR *third)
{
    return _snwprintf_s(path, LONGEST, _TRUNCATE, L"%ls%ls%ls", first, second, third) >= 0;
}

/* The Python that was shipped, or the one that uv has put into a folder named by its version; 0 for none. */
static int find_python(void)
{
    static WCHAR pattern[LONGEST], inside[LONGEST];
    WIN32_FIND_DATAW entry;
    if (join(python, folder, L"python\\", PROGRAM) && exists(python))
        return 1;
    if (!join(pattern, folder, L"python\\", L"cpython-3*"))
        return 0;
    HANDLE search = FindFirstFileW(pattern, &entry);
    int found = 0;
    if (search == INVALID_HANDLE_VALUE)
        return 0;
    do
        found = join(inside, folder, L"python\\", entry.cFileName) && join(python, inside, L"\\", PROGRAM) && exists(python);
    while (!found && FindNextFileW(search, &entry));
    FindClose(search);
    return found;
}

/* The command line behind the program's name, which Windows lets end at a quote or, without one, at a blank. */
static const WCHAR *arguments(void)
{
    const WCHAR *at = GetCommandLineW();
    int quoted = 0;
    for (; *at && (quoted || (*at != L' ' && *at != L'\t')); at++)
        quoted ^= *at == L'"';
    return at;
}

static int tell(const WCHAR *english, const WCHAR *chinese)
{
    const WCHAR *text = PRIMARYLANGID(GetUserDefaultUILanguage()) == LANG_CHINESE ? chinese : english;
#ifdef TERMINAL
    HANDLE error = GetStdHandle(STD_ERROR_HANDLE);
    DWORD written;
    if (!WriteConsoleW(error, text, (DWORD)wcslen(text), &written, NULL)) { /* a file or a pipe */
        char bytes[1024];
        int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
        if (length > 1)
            WriteFile(error, bytes, (DWORD)length - 1, &written, NULL);
    }
#else
    MessageBoxW(NULL, text, L"Underhill", MB_OK | MB_ICONERROR);
#endif
    return MISSING;
}

#ifdef TERMINAL
static HANDLE child;

/* Python gets Ctrl+C as well and ends as it thinks fit; when the terminal is closed, Windows waits for a while. */
static BOOL WINAPI leave_to_child(DWORD event)
{
    if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT)
        WaitForSingleObject(child, INFINITE);
    return TRUE;
}

/* Have the process end with this one. Where Windows refuses that, it still ends by itself. */
static void end_with_this(HANDLE process)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {0};
    HANDLE job = CreateJobObjectW(NULL, NULL); /* closed by the end of this process, which ends the child */
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (job && SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits))
        AssignProcessToJobObject(job, process);
}
#endif

int main(void)
{
    STARTUPINFOW given, start = {.cb = sizeof start};
    PROCESS_INFORMATION process;
    DWORD length = GetModuleFileNameW(NULL, folder, LONGEST);
    WCHAR *end = length && length < LONGEST ? wcsrchr(folder, L'\\') : NULL;
    if (end)
        end[1] = 0;
    if (!end || !find_python())
        return tell(L"Python is missing in Underhill's folder. Install Underhill again.\n",
                    L"Underhill 的文件夹中缺少 Python。请重新安装 Underhill。\n");
    if (_snwprintf_s(line, LONGEST, _TRUNCATE, L"\"%ls\" -I \"%lslaunch.py\"%ls%ls", python, folder, OPTION, arguments()) < 0)
        return tell(L"The command line is too long.\n", L"命令行太长。\n");
    GetStartupInfoW(&given);
    start.dwFlags = given.dwFlags & STARTF_USESHOWWINDOW; /* a shortcut may ask for a minimized window */
    start.wShowWindow = given.wShowWindow;
#ifdef TERMINAL
    SetConsoleCtrlHandler(leave_to_child, TRUE); /* before there is a child that would outlive this */
    if (!CreateProcessW(python, line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &start, &process))
        return tell(L"Python cannot be started. Install Underhill again.\n", L"无法启动 Python。请重新安装 Underhill。\n");
    child = process.hProcess;
    end_with_this(child);
    ResumeThread(process.hThread);
    DWORD code = MISSING;
    WaitForSingleObject(child, INFINITE);
    GetExitCodeProcess(child, &code);
    return (int)code;
#else
    if (!CreateProcessW(python, line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &process))
        return tell(L"Python cannot be started. Install Underhill again.\n", L"无法启动 Python。请重新安装 Underhill。\n");
    AllowSetForegroundWindow(process.dwProcessId); /* what a click started may come to the front */
    return 0;
#endif
}
