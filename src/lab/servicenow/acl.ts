import type { Database } from './database.js'
import { fieldReader } from './field-reader.js'
import { matcher } from './matcher.js'
import { parseQuery } from './query.js'
import type { Row } from './row.js'
import type { Table } from './table.js'
import { NotThereError } from './not-there.js'

const operations = ['read', 'insert', 'update', 'delete'] as const
export type Operation = (typeof operations)[number]

/** Rows, or a whole table, that a user may not use. */
export interface AclRule {
  readonly table: string
  /** Default: every user. */
  readonly username?: string
  /**
   * An encoded query that selects the hidden rows. Lists silently leave them out, after the limit was applied.
   */
  readonly query?: string
  /** Without a query: operations that are refused with 403. Default: all. */
  readonly operations?: readonly Operation[]
}

/** A rule of the table's owner that aborts an operation. */
export interface BusinessRule {
  readonly table: string
  readonly name: string
  /** Default: insert, update and delete. */
  readonly operations?: readonly Operation[]
  /** Encoded query that the new state of a row has to match. Default: every row. */
  readonly query?: string
}

/** Decides what users may do with rows. */
export class Acl {
  readonly #database: Database
  #rules: { readonly rule: AclRule; readonly isMeant: (row: Row) => boolean }[] = []
  #businessRules: { readonly rule: BusinessRule; readonly isMeant: (row: Row) => boolean }[] = []

  constructor(database: Database) {
    this.#database = database
  }

  add(rule: AclRule): void {
    this.#rules.push({ rule, isMeant: this.#compile(rule) })
  }

  addBusinessRule(rule: BusinessRule): void {
    this.#businessRules.push({ rule, isMeant: this.#compile(rule) })
  }

  clear(): void {
    this.#rules = []
    this.#businessRules = []
  }

  /** Whether a user may not do this to a table at all. */
  denies(username: string, table: Table, operation: Operation): boolean {
    return this.#rules.some(({ rule }) => {
      const isFor = rule.table === table.name && (rule.username ?? username) === username
      return isFor && rule.query === undefined && (rule.operations ?? operations).includes(operation)
    })
  }

  /** Returns a test whether a row is hidden from a user. Called once per page, and the test once per row. */
  hides(username: string, table: Table): (row: Row) => boolean {
    const tests = this.#rules.flatMap(({ rule, isMeant }) => {
      const isFor = rule.table === table.name && (rule.username ?? username) === username
      return isFor && rule.query !== undefined ? [isMeant] : []
    })
    return row => tests.some(isMeant => isMeant(row))
  }

  /** The name of the business rule that aborts an operation. */
  abortedBy(table: Table, operation: Operation, row: Row): string | undefined {
    const found = this.#businessRules.find(
      ({ rule, isMeant }) =>
        rule.table === table.name && (rule.operations ?? operations).includes(operation) && isMeant(row),
    )
    return found?.rule.name
  }

  #compile({ table: name, query }: { readonly table: string; readonly query?: string }): (row: Row) => boolean {
    const table = this.#database.table(name)
    if (!table) throw new NotThereError(`no such table: ${name}`)
    if (query === undefined) return () => true
    const reader = fieldReader(this.#database, table)
    const parsed = parseQuery(query, field => reader.fieldOf(field) !== undefined)
    if (parsed.invalid.length > 0) throw new Error(`not understood in the query: ${parsed.invalid.join(', ')}`)
    return matcher(parsed.alternatives, reader)
  }
}
