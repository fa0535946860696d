/** Observed values of a failure. Never holds a secret or a document. */
export type Evidence = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
