/** Licences that ask for nothing but their own text. */
export const permissive: readonly string[]
