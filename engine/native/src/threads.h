/* The little of threads that pool and readers need, from pthreads or from Windows itself (no winpthreads DLL to ship). */
#ifndef UH_THREADS_H
#define UH_THREADS_H

#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>

typedef HANDLE uh_thread;
typedef SRWLOCK uh_mutex;
typedef CONDITION_VARIABLE uh_condition;
#define UH_THREAD_MAIN(name) static DWORD WINAPI name(void *argument)
#define UH_THREAD_END 0

static inline int uh_thread_start(uh_thread *thread, LPTHREAD_START_ROUTINE main, void *argument) {
    *thread = CreateThread(NULL, 0, main, argument, 0, NULL);
    return *thread ? 0 : -1;
}
static inline void uh_thread_join(uh_thread thread) {
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}
static inline void uh_mutex_init(uh_mutex *mutex) { InitializeSRWLock(mutex); }
static inline void uh_mutex_destroy(uh_mutex *mutex) { (void)mutex; }
static inline void uh_lock(uh_mutex *mutex) { AcquireSRWLockExclusive(mutex); }
static inline void uh_unlock(uh_mutex *mutex) { ReleaseSRWLockExclusive(mutex); }
static inline void uh_condition_init(uh_condition *condition) { InitializeConditionVariable(condition); }
static inline void uh_condition_destroy(uh_condition *condition) { (void)condition; }
static inline void uh_wait(uh_condition *condition, uh_mutex *mutex) {
    SleepConditionVariableSRW(condition, mutex, INFINITE, 0);
}
static inline void uh_wake_one(uh_condition *condition) { WakeConditionVariable(condition); }
static inline void uh_wake_all(uh_condition *condition) { WakeAllConditionVariable(condition); }
static inline void uh_give_way(void) { SwitchToThread(); }
static inline int64_t uh_nanoseconds(void) {
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    return (int64_t)((double)count.QuadPart * 1e9 / (double)frequency.QuadPart);
}

#else
#include <pthread.h>
#include <sched.h>
#include <time.h>

typedef pthread_t uh_thread;
typedef pthread_mutex_t uh_mutex;
typedef pthread_cond_t uh_condition;
#define UH_THREAD_MAIN(name) static void *name(void *argument)
#define UH_THREAD_END NULL

static inline int uh_thread_start(uh_thread *thread, void *(*main)(void *), void *argument) {
    return pthread_create(thread, NULL, main, argument);
}
static inline void uh_thread_join(uh_thread thread) { pthread_join(thread, NULL); }
static inline void uh_mutex_init(uh_mutex *mutex) { pthread_mutex_init(mutex, NULL); }
static inline void uh_mutex_destroy(uh_mutex *mutex) { pthread_mutex_destroy(mutex); }
static inline void uh_lock(uh_mutex *mutex) { pthread_mutex_lock(mutex); }
static inline void uh_unlock(uh_mutex *mutex) { pthread_mutex_unlock(mutex); }
static inline void uh_condition_init(uh_condition *condition) { pthread_cond_init(condition, NULL); }
static inline void uh_condition_destroy(uh_condition *condition) { pthread_cond_destroy(condition); }
static inline void uh_wait(uh_condition *condition, uh_mutex *mutex) { pthread_cond_wait(condition, mutex); }
static inline void uh_wake_one(uh_condition *condition) { pthread_cond_signal(condition); }
static inline void uh_wake_all(uh_condition *condition) { pthread_cond_broadcast(condition); }
static inline void uh_give_way(void) { sched_yield(); }
static inline int64_t uh_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif

static inline void uh_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
