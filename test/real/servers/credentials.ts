import { randomBytes } from 'node:crypto'

export interface Credentials {
  readonly username: string
  readonly password: string
}

/** Credentials whose every special character breaks a URL unless it is encoded; new for each world. */
export function newCredentials(): Credentials {
  return { username: 'us@er+1', password: `p@ss:w/rd#1%?&+${randomBytes(6).toString('hex')}` }
}
