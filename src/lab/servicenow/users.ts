import { isSame } from '../proxy/credentials.js'
import type { Database } from './database.js'
import type { Row } from './row.js'
import type { Table } from './table.js'
import { NotThereError } from './not-there.js'

/** The users and their passwords. Their rows in sys_user decide whether they may log in: `active` and `locked_out`. */
export class Users {
  readonly #database: Database
  readonly #passwords = new Map<string, string>()

  constructor(database: Database) {
    this.#database = database
  }

  /** A new user, or an existing one with a new password. */
  set(username: string, password: string): void {
    this.#passwords.set(username, password)
    if (this.find(username)) return
    const values = { user_name: username, name: username, email: `${username}@example.com` }
    this.#database.insert(this.#table(), values, 'system')
  }

  /** Sets whether a user is active or locked out. Throws if there is no such user. */
  change(username: string, { active, lockedOut }: { readonly active?: boolean; readonly lockedOut?: boolean }): void {
    const row = this.find(username)
    if (!row) throw new NotThereError(`no such user: ${username}`)
    const values = {
      ...(active !== undefined && { active: String(active) }),
      ...(lockedOut !== undefined && { locked_out: String(lockedOut) }),
    }
    this.#database.update(this.#table(), row, values, 'system')
  }

  find(username: string): Row | undefined {
    for (const row of this.#table().rows()) if (row['user_name'] === username) return row
    return undefined
  }

  mayLogIn(username: string): boolean {
    const row = this.find(username)
    return row?.['active'] === 'true' && row['locked_out'] === 'false'
  }

  isPassword(username: string, password: string): boolean {
    const expected = this.#passwords.get(username)
    return expected !== undefined && isSame(password, expected) && this.mayLogIn(username)
  }

  #table(): Table {
    const table = this.#database.table('sys_user')
    if (!table) throw new Error('no table sys_user')
    return table
  }
}
