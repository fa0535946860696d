/** Throws if the packed files are not what the package needs. */
export function checkContents(paths: readonly string[], folder?: string): void
