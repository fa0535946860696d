/** What a user may say of an input: its format, and how its CSV is written. */

/** Formats whose documents carry their own ids. */
export const dumpFormats = ['bulk', 'elasticdump', 'search'] as const

export type DumpFormat = (typeof dumpFormats)[number]

export function isDump(format: unknown): format is DumpFormat {
  return dumpFormats.some(name => name === format)
}

/**
 * `auto` is json if a path is picked, if the input begins with `[` and is not named as NDJSON, or if its first value spans several
 * lines. It is csv if the input looks like a table and is named so: .csv, .tsv, .tab or .txt. Otherwise it is ndjson, unless it is
 * recognised as something else. `tsv` is csv with tabs. Each line of `text` is a document with one field, `message`. `elasticdump` and `search` hold hits: one on each line, or in answers of a
 * search. `auto` recognises both.
 */
export type Format = 'auto' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'text' | DumpFormat

export const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
export type Encoding = (typeof encodings)[number]

/** The types of Elasticsearch that a column may have. Cells from `date` on stay text: Elasticsearch reads it. Those of `object` are JSON. */
export const cellTypes = [
  'byte',
  'short',
  'integer',
  'long',
  'unsigned_long',
  'half_float',
  'float',
  'double',
  'scaled_float',
  'boolean',
  'date',
  'date_nanos',
  'ip',
  'keyword',
  'text',
  'version',
  'wildcard',
  'geo_point',
  'object',
] as const
export type CellType = (typeof cellTypes)[number]

/** Types of numbers. */
export const numberTypes: ReadonlySet<CellType> = new Set(cellTypes.slice(0, cellTypes.indexOf('boolean')))

/** How a CSV file is read. Encoding, delimiter and quote are found by looking, unless they are set. */
export interface CsvOptions {
  /** Names of the columns. Default: the first row. */
  readonly columns?: readonly string[] | undefined
  /** With `columns`: pass over the first row. Default false. */
  readonly skipHeader?: boolean | undefined
  /** Lines above the names of the columns. Default: Sluice detects titles and comments. */
  readonly skipLines?: number | undefined
  /** One ASCII character. */
  readonly delimiter?: string | undefined
  /**
   * One ASCII character around cells, or an empty string if cells are never quoted. Behind a backslash (`\"`): in cells, a backslash stands
   * before quotes and backslashes.
   */
  readonly quote?: string | undefined
  readonly encoding?: Encoding | undefined
  /** Write numbers and truth values as such if no digit is lost. Default false: every cell is text. */
  readonly inferTypes?: boolean | undefined
  /** The types of some columns, by name. */
  readonly types?: Readonly<Record<string, CellType>> | undefined
  /**
   * Cells that hold no value, in every column. Default: the words of R, pandas, databases and spreadsheets, such as NA and NULL, in columns
   * of numbers, dates and truth values. An empty list: no cell but an empty one.
   */
  readonly nullValues?: readonly string[] | undefined
  /** The value of an empty cell: no field (default), or null. */
  readonly empty?: 'omit' | 'null' | undefined
  /** In Parquet: what NaN and infinite numbers become, which JSON does not have. Default: their rows are rejected. */
  readonly nan?: 'reject' | 'null' | 'omit' | undefined
}

/** Returns how a table is read if its documents get a proposed mapping: that has types of numbers and truth values, so cells must be such values. */
export function asProposed(csv: CsvOptions | undefined): CsvOptions {
  return { ...csv, inferTypes: true }
}
