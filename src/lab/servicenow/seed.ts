import { createHash } from 'node:crypto'
import type { Values } from './database.js'
import type { Row } from './row.js'
import type { Table } from './table.js'
import { formatTimestamp, parseTimestamp } from './timestamp.js'

export interface Seed {
  /** The same seed gives the same rows to a table of the same size. Default 1. */
  readonly seed?: number
  /** When the first row was created. Default `2024-01-01 00:00:00`. */
  readonly from?: string
  /** Between the creation of a row and of the next one. Default 120. */
  readonly spacingSeconds?: number
  /** The same in every row. */
  readonly values?: Values
}

/**
 * Fills a table with rows that depend only on the seed. Two in five were updated later, many of them in the same second.
 * No time is later than `nowMs`. `people`: sys_ids of users that incidents may refer to.
 */
export function seedRows(
  table: Table,
  count: number,
  people: readonly string[],
  nowMs: number,
  options: Seed = {},
): void {
  const { seed = 1, from = '2024-01-01 00:00:00', spacingSeconds = 120, values = {} } = options
  const next = random(createHash('sha256').update(`${table.name} ${seed} ${table.size}`).digest().readUInt32LE())
  const start = parseTimestamp(from)
  const texts = described()
  const rows: Row[] = []
  for (let i = 0; i < count; i++) {
    const created = start + i * spacingSeconds * 1000
    const createdOn = flat(formatTimestamp(created))
    const draw = next()
    const changes = draw % 5 < 2 ? 1 + (draw % 3) : 0
    // Jobs that update many rows at once run every ten minutes.
    const drawn = Math.ceil((created + (next() % 2_592_000) * 1000) / 600_000) * 600_000
    const updated = Math.max(created, Math.min(drawn, nowMs))
    const row: Row & Record<string, string> = {
      ...table.template,
      ...values,
      ...(table.numberPrefix !== undefined && { number: table.nextNumber() }),
      sys_id: newId(next),
      sys_created_on: createdOn,
      sys_created_by: 'seed',
      sys_updated_on: changes === 0 ? createdOn : flat(formatTimestamp(updated)),
      sys_updated_by: 'seed',
      sys_mod_count: String(changes),
    }
    if (table.name === 'incident') describe(row, texts[draw % texts.length] ?? '', people, next, values)
    if (table.name === 'sys_user') Object.assign(row, personOf(table.size + i), values)
    rows.push(row)
  }
  table.putAll(rows)
}

function describe(
  row: Record<string, string>,
  text: string,
  people: readonly string[],
  next: () => number,
  values: Values,
): void {
  const person = (): string => people[next() % people.length] ?? ''
  const impact = 1 + (next() % 3)
  const urgency = 1 + (next() % 3)
  const state = ['1', '2', '3', '6', '7'][next() % 5] ?? '1'
  const [short = '', long = ''] = text.split('\n')
  Object.assign(row, {
    short_description: short,
    description: long,
    state,
    impact: String(impact),
    urgency: String(urgency),
    priority: String(impact + urgency - 1),
    active: String(state !== '7'),
    caller_id: person(),
    assigned_to: next() % 4 === 0 ? '' : person(),
    opened_at: row['sys_created_on'],
    opened_by: person(),
    ...((state === '6' || state === '7') && {
      resolved_at: row['sys_updated_on'],
      close_code: 'Solved',
      close_notes: 'Restarted',
    }),
    ...values,
  })
}

function personOf(i: number): Values {
  const given = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Radia']
  const family = ['Okafor', 'Nygård', 'Sato', 'Ferreira', 'Kowalska']
  const name = `${given[i % given.length]} ${family[i % family.length]}`
  return { user_name: `user.${i}`, name, email: `user.${i}@example.com` }
}

/**
 * Returns short and long descriptions, separated by a line feed. Some contain what breaks careless readers of JSON or
 * queries.
 */
function described(): readonly string[] {
  const things = ['VPN', 'Printer', 'E-mail', 'Laptop', 'Badge reader', 'Payroll "export"', 'Café Wi-Fi', 'C:\\ drive']
  const troubles = [
    'is slow',
    'does not start',
    'shows an error',
    'was unplugged^again',
    'needs a new password',
    'beeps 🔔',
  ]
  return things.flatMap(thing =>
    troubles.map(trouble => `${thing} ${trouble}\nThe user says that it ${trouble}, since this morning.`),
  )
}

/** Returns 32-bit numbers that depend only on the seed (a mixed Weyl sequence). */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
}

const idBytes = Buffer.alloc(16)

function newId(next: () => number): string {
  for (let at = 0; at < 16; at += 4) idBytes.writeUInt32BE(next(), at)
  return idBytes.toString('hex')
}

/** Returns the text in one piece. A concatenated string keeps its parts, which takes more than twice the memory. */
function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
