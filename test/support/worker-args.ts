/**
 * The flags of the processes that run tests. Most functions run a few times there, and V8 would spend an eighth of all CPU time
 * on optimising them. Later engines count otherwise, and do not know this flag.
 */
export const workerArgs: string[] = Number.parseInt(process.versions.v8, 10) < 12 ? ['--interrupt-budget=2000000'] : []
