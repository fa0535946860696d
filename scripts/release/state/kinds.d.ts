/** By name: each plays one kind of work, until it is killed. */
export const kinds: Readonly<Record<string, unknown>>
