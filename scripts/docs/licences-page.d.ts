/** Licences that ask for nothing but their own text. */
export const permissive: readonly string[]
/** Names and licences of the exceptions. */
export const forTestsOnly: Readonly<Record<string, string>>
