/** A hash of all that a build is made from. */
export function fingerprint(): string
/** Writes the package as it would be installed, but its dependencies. Takes `dist/` if that is of the same sources. */
export function packageInto(folder: string): void
