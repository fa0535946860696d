/**
 * A value to set. A string may hold `{now}`, `{file}`, `{path}` and `{line}`. `json`: any JSON as it is to stand in the document, so
 * that no digit is lost, or `{line}` as a number.
 */
export type SetValue = string | number | boolean | null | { readonly json: string }

export const placeholders = ['now', 'file', 'path', 'line'] as const

/** Finds placeholders, and what somebody probably took for one. */
export const IN_BRACES = /\{([A-Za-z_]+)\}/g
