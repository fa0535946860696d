/** A table, row, user or client that somebody named and that is not there. */
export class NotThereError extends Error {}
