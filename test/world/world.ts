/** The files, the index and the state of one story. */
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { EngineInMemory } from '../support/load/engine-in-memory.js'
import { Behind } from './behind.js'
import { LATE, type StoryObjects } from './bucket.js'
import type { StoryCluster } from './cluster.js'
import type { Dead, Line, Seen, Stored } from './facts.js'
import { documentOf, partOf } from './formats.js'
import { packed, packingOf } from './packing.js'
import { type Edit, shapeModule } from './shaping.js'
import type { Limit } from './limits.js'
import type { Story } from './story.js'
import type { Way } from './ways.js'

/** Rotates a file of this machine, and those that were rotated before. */
export type Rotate = (file: {
  readonly path: string
  readonly isCopied: boolean
  /** Chooses a way to pack them. */
  readonly packing: number
  readonly mayPack: boolean
}) => void

/** Where stories are played. */
export interface Servers extends AsyncDisposable {
  readonly cluster: StoryCluster
  readonly objects: StoryObjects
  /** Without it, stories rotate files themselves. */
  readonly rotate?: Rotate | undefined
}

/** What all stories share. */
export interface Stage extends Servers {
  /** Changes the clock of this machine. */
  jump(hours: number): void
}

export interface Settings {
  readonly op: string
  readonly ids: string
  readonly batchDocs: number
  readonly tag?: string | undefined
  readonly edit?: Edit | undefined
  /** Whether a function of the user shapes each document. */
  readonly transforms?: boolean | undefined
  /** Whether documents whose id exists are skipped. */
  readonly skips?: boolean | undefined
  readonly limit?: Limit | undefined
  readonly runId?: string | undefined
  readonly maxRejected?: number | undefined
  readonly isAgain: boolean
}

export interface Trouble {
  readonly kind: string
  readonly after: number
  readonly times: number
  readonly turns: number
}

interface Held {
  lines: readonly Line[]
  isOpen: boolean
}

/** The clock of the machine, which a story may set back. */
const realNow = Date.now

/** Callers of a receiver send it. */
export const SLUICE_SERVE_TOKEN = 'a-token-of-a-story-and-nothing-else'

const calm: Trouble = { kind: 'none', after: 0, times: 0, turns: 0 }

export class World {
  /** What happened, for people. */
  readonly told: string[] = []
  readonly behind: Behind | undefined
  readonly op: string
  /** Whether each document names its index. */
  readonly isByField: boolean
  /** Whether the rare field reaches the index. Formats with columns have no such field, and some edits drop it. */
  readonly hasRare: boolean
  readonly env: Record<string, string>
  trouble = calm
  /** Where jobs lie. */
  queue = new EngineInMemory()
  /** Whether the index takes no documents with the rare field. */
  isNarrow = false
  /** The machine where the user is. */
  machine = 0
  /** The last number of a document. */
  n = 0
  /** How the requests of callers were answered, by the input of each. */
  readonly answers = new Map<string, number>()
  #isListening = true
  readonly #mayNarrow: boolean
  #replays = 0
  #writtenMs = 0
  #lost: 'deleted' | 'made anew' | undefined
  readonly #held = new Map<string, Held>()

  constructor(
    readonly stage: Stage,
    readonly folder: string,
    readonly index: string,
    readonly way: Way,
    story: Pick<Story, 'op' | 'isByField' | 'edit' | 'target' | 'transforms'>,
  ) {
    this.op = story.op
    this.isByField = story.isByField === true
    this.hasRare = !/(?:[ct]sv|xlsx)$/.test(way.extension) && story.edit !== 'keep'
    const { target } = story
    const isPlain =
      way.posts === undefined &&
      way.isTable !== true &&
      way.isQueued !== true &&
      way.isText !== true &&
      story.transforms !== true
    this.#mayNarrow = this.hasRare && isPlain && !this.isByField && target === undefined
    this.behind = target === undefined ? undefined : new Behind(index, target, stage.cluster)
    mkdirSync(join(folder, 'in/sub'), { recursive: true })
    const machine = { PATH: process.env['PATH'] ?? '', XDG_STATE_HOME: join(folder, 'state') }
    this.env = {
      ...stage.cluster.env,
      ...stage.cluster.tables?.env,
      ...stage.objects.env,
      SLUICE_PREFLIGHT_CONNECTIONS: '1',
      SLUICE_SERVE_TOKEN,
      ...machine,
    }
    rmSync(join(folder, 'in/sub'), { recursive: true })
    writeFileSync(join(folder, 'shape.mjs'), shapeModule)
  }

  tell(what: string): void {
    this.told.push(what.replaceAll(`${this.folder}/`, '').replaceAll(`${this.index} `, 'INDEX '))
  }

  at(path: string): string {
    return join(this.folder, path)
  }

  /** From now on, callers get answers. */
  listen(): void {
    this.answers.clear()
    this.#isListening = true
  }

  answer(path: string, status: number): void {
    if (this.#isListening) this.answers.set(path, status)
  }

  /** The process is killed: no caller gets an answer any more. */
  silence(): void {
    this.#isListening = false
  }

  takeTrouble(): Trouble {
    const trouble = this.trouble
    this.trouble = calm
    return trouble
  }

  newLines(count: number, bad = 0): Line[] {
    return Array.from({ length: count }, (_, at) => ({ n: (this.n += 1), v: 1, isBad: at < bad }))
  }

  get names(): string[] {
    return [...this.#held.keys()].toSorted()
  }

  /** The files that a command of this way finds. */
  get inputs(): string[] {
    return this.way.without.includes('loadAgain') ? this.names.filter(name => name.endsWith('.ndjson')) : this.names
  }

  /** A name that is free. */
  freeName(): string | undefined {
    const free = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, this.way.most)
    return free.map(name => name + this.way.extension).find(name => !this.#held.has(name))
  }

  held(name: string): Held {
    return this.#held.get(name) ?? { lines: [], isOpen: false }
  }

  bytesOf(name: string): Buffer {
    return packed(name, this.#plain(name))
  }

  /** The files as one stream of whole lines. */
  stream(names: readonly string[]): Buffer {
    return Buffer.concat(names.map(name => this.way.bytes(this.held(name).lines, false, this.op)))
  }

  textsOf(name: string): string[] {
    return this.held(name).lines.map(line => this.way.bytes([line], true, this.op).toString())
  }

  /** What an application passes: a line that is no document is a text. */
  objectsOf(name: string): (object | string)[] {
    return this.held(name).lines.map(line => (line.isBad ? `broken ${line.n} ${line.v}` : documentOf(line)))
  }

  /** Writes a whole file: over the one of that name, or as another file that takes its name. */
  put(name: string, lines: readonly Line[], { isOpen = false, isInPlace = true } = {}): void {
    this.#held.set(name, { lines, isOpen: isOpen && this.way.isAppended })
    if (this.way.isTable === true) return this.stage.cluster.tables?.put(this.table(name), lines)
    const bytes = this.bytesOf(name)
    if (this.way.isOnServer === true) return this.stage.objects.put(this.#key(name), bytes)
    const path = this.at(`in/${name}`)
    if (isInPlace) writeFileSync(path, bytes)
    else {
      writeFileSync(this.at('new'), bytes)
      renameSync(this.at('new'), path)
    }
    this.#stamp(path)
  }

  /** Gives each write a time of its own, so that a story ends in the same way each time. */
  #stamp(path: string): void {
    this.#writtenMs = Math.max(this.#writtenMs + 2, realNow())
    utimesSync(path, this.#writtenMs / 1000, this.#writtenMs / 1000)
  }

  append(name: string, more: readonly Line[], isOpen: boolean): void {
    const before = this.bytesOf(name)
    const lines = [...this.held(name).lines, ...more]
    const isPlain = this.way.isAppended && packingOf(name) === ''
    if (!isPlain || this.way.isOnServer === true) return this.put(name, lines, { isOpen })
    this.#held.set(name, { lines, isOpen })
    appendFileSync(this.at(`in/${name}`), this.bytesOf(name).subarray(before.length))
    this.#stamp(this.at(`in/${name}`))
  }

  rename(name: string, to: string): void {
    this.#held.set(to, this.held(name))
    this.#held.delete(name)
    if (this.way.isOnServer === true) this.stage.objects.rename(this.#key(name), this.#key(to))
    else renameSync(this.at(`in/${name}`), this.at(`in/${to}`))
  }

  copy(name: string, to: string): void {
    if (this.way.isOnServer === true) return this.put(to, this.held(name).lines, this.held(name))
    this.#held.set(to, { ...this.held(name) })
    copyFileSync(this.at(`in/${name}`), this.at(`in/${to}`))
    this.#stamp(this.at(`in/${to}`))
  }

  /** Lets a program of the machine rotate a file. Returns false if none does. */
  rotate(name: string, isCopied: boolean, packing: number): boolean {
    const { rotate } = this.stage
    if (rotate === undefined || this.way.isOnServer === true || packingOf(name) !== '') return false
    const before = new Map(this.names.map(one => [this.#identity(one), this.held(one)]))
    const plain = new Map(this.names.map(one => [this.#plain(one).toString(), this.held(one)]))
    const mayPack = this.way.packs.includes('gz') && !this.way.without.includes('compress')
    rotate({ path: this.at(`in/${name}`), isCopied, packing, mayPack })
    this.#held.clear()
    for (const one of readdirSync(this.at('in'))) {
      const bytes = readFileSync(this.at(`in/${one}`))
      const text = (packingOf(one) === '.gz' ? gunzipSync(bytes) : bytes).toString()
      const held = before.get(this.#identity(one)) ?? plain.get(text) ?? { lines: [], isOpen: false }
      this.#held.set(one, { ...held })
    }
    return true
  }

  #identity(name: string): string {
    const { ino, size } = statSync(this.at(`in/${name}`))
    return `${ino} ${size}`
  }

  #plain(name: string): Buffer {
    const { lines, isOpen } = this.held(name)
    return this.way.bytes(lines, isOpen, this.op)
  }

  remove(name: string): void {
    this.#held.delete(name)
    if (this.way.isOnServer === true) this.stage.objects.remove(this.#key(name))
    else rmSync(this.at(`in/${name}`))
  }

  touch(name: string): void {
    if (this.way.isOnServer !== true) utimesSync(this.at(`in/${name}`), 1000, 1000)
  }

  /** Whether a command does not see this object, because the lists of the bucket lag. `names`: those that it loads. */
  isLate(name: string, names: readonly string[]): boolean {
    const isListed = this.way.plays.includes('s3') && names.length === this.names.length
    return isListed && this.trouble.kind === LATE && this.stage.objects.isNew(this.#key(name))
  }

  #key(name: string): string {
    return `${this.index}/${name}`
  }

  url(name: string): string {
    return this.stage.objects.url(this.#key(name))
  }

  /** The address of an object. Without a name: of all of them. */
  object(name = '*'): string {
    return `s3://${this.stage.objects.bucket}/${this.#key(name)}`
  }

  /** The name of a table. */
  table(name: string): string {
    return `u_${this.index.replaceAll('-', '_')}_${name}`
  }

  spelled(name: string, spelling: number): string {
    const pattern = `[${name.slice(0, 1)}]${name.slice(1)}`
    const forms = [`in/${name}`, `in/./${name}`, `in/../in/${name}`, `in/${pattern}`]
    return `${this.folder}/${forms[spelling % forms.length] ?? ''}`
  }

  see(names: readonly string[]): Seen[] {
    return names.map(name => {
      const { lines, isOpen } = this.held(name)
      const path = `in/${name}`
      if (this.way.isOnServer === true) return { path, lines, isOpen }
      const { ino: inode, mtimeMs: writtenMs } = statSync(this.at(path))
      return { path, inode, lines, isOpen, writtenMs }
    })
  }

  /** What the user passes to `--index`. */
  get target(): string {
    return this.isByField ? `${this.index}-{part}` : this.index
  }

  async #indices(): Promise<readonly string[]> {
    const { behind } = this
    if (behind !== undefined) return (await this.stage.cluster.indices()).filter(index => behind.has(index))
    return this.isByField ? [1, 2].map(n => this.indexOf(n)) : [this.index]
  }

  /** The index of a document. */
  indexOf(n: number): string {
    return this.isByField ? `${this.index}-${partOf(n)}` : this.index
  }

  /** Makes a number of the rare field, if no document made a text of it before. */
  async narrow(): Promise<void> {
    if (!this.#mayNarrow) return
    const mapping = JSON.stringify({ properties: { rare: { type: 'long' } } })
    if ((await this.stage.cluster.ask('PUT', `${this.index}/_mapping`, mapping)) === 200) this.isNarrow = true
  }

  /** Whether the oracle knows what becomes of a load whose index is deleted. */
  get mayLoseIndex(): boolean {
    return !this.isByField && this.behind === undefined && this.way.isQueued !== true
  }

  /** Deletes the index, past Sluice. */
  async loseIndex(isMadeAnew: boolean): Promise<void> {
    this.isNarrow = false
    this.#lost = isMadeAnew ? 'made anew' : 'deleted'
    await this.stage.cluster.ask('DELETE', this.index)
    if (isMadeAnew) await this.stage.cluster.ask('PUT', this.index)
  }

  /** How the index was lost since the last call. */
  takeLoss(): 'deleted' | 'made anew' | undefined {
    const lost = this.#lost
    this.#lost = undefined
    return lost
  }

  /** How many documents the index holds. */
  async count(): Promise<number> {
    let sum = 0
    for (const index of await this.#indices()) sum += await this.stage.cluster.count(index)
    return sum
  }

  /** What the index holds. */
  async stored(): Promise<Stored[]> {
    const stored: Stored[] = []
    for (const index of await this.#indices()) {
      for (const { id, source } of await this.stage.cluster.documents(index)) {
        const { tag, ...document } = this.#documentIn(source)
        const { n, v } = document
        const fields = Object.keys(document).join(' ')
        const isElsewhere = this.isByField && index !== this.indexOf(Number(n))
        if (isElsewhere) throw new Error(`document ${n} stands in ${index}`)
        stored.push({ id, n: Number(n), v: Number(v), fields, ...(tag === undefined ? {} : { tag: String(tag) }) })
      }
    }
    return stored
  }

  #documentIn(source: string): Record<string, string | number> {
    const { message, ...stored } = JSON.parse(source) as Record<string, string | number>
    const isText = this.way.isText === true && typeof message === 'string'
    return isText ? { ...(JSON.parse(message) as Record<string, string | number>), ...stored } : stored
  }

  async end(): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true })
    for (const index of await this.#indices()) await this.stage.cluster.remove(index)
  }

  dead(file = 'dead.ndjson'): Dead[] {
    return this.#records(file).map(({ id = '', line, base64, document }) => {
      const isDocument = line === undefined && base64 === undefined
      const text = textOf({ line, base64, document })
      const isMisfit = isDocument && text.includes('"rare"')
      const [n, v = 1] = [...text.matchAll(/\d+/g)].map(Number)
      return { id: String(id), n: Number(n), v, isRepaired: isDocument && !isMisfit, isMisfit }
    })
  }

  #records(file: string): Record<string, unknown>[] {
    const path = this.at(file)
    if (!existsSync(path)) return []
    const lines = readFileSync(path, 'utf8').split('\n')
    return lines
      .filter(line => line !== '' && !this.#isTorn(line))
      .map(line => JSON.parse(line) as Record<string, unknown>)
  }

  /** Whether a kill has cut off a record. Its document is sent again. */
  #isTorn(line: string): boolean {
    return this.told.includes('  killed') && !line.endsWith('}')
  }

  /** Gives each dead letter a document, in a new file, as a person would. Returns its name. */
  repair(): string {
    const records = this.#records('dead.ndjson').map(({ line, base64, ...record }) => {
      const text = textOf({ line, base64, document: record['document'] })
      const isDocument = line === undefined && base64 === undefined
      const n = Number(/\d+/.exec(text)?.[0])
      const document = { n, v: 1, part: partOf(n) }
      const upserted = text.includes('doc_as_upsert') ? { operation: 'upsert' } : {}
      return JSON.stringify(isDocument && !text.includes('"rare"') ? record : { ...record, ...upserted, document })
    })
    writeFileSync(this.at('dead.ndjson'), records.map(record => `${record}\n`).join(''))
    return 'dead.ndjson'
  }

  nextReplay(): string {
    return `dead-again-${(this.#replays += 1)}.ndjson`
  }

  /** The state folder of the machine where the user is. */
  get state(): string {
    return this.at(this.machine === 0 ? 'state' : `state-${this.machine}`)
  }

  loseState(): void {
    rmSync(this.state, { recursive: true, force: true })
  }

  /** Goes to another machine. `isCopied`: with the state of this one. */
  move(to: number, isCopied: boolean): void {
    const from = this.state
    this.machine = to
    if (!isCopied) return
    rmSync(this.state, { recursive: true, force: true })
    if (existsSync(from)) cpSync(from, this.state, { recursive: true, filter: path => !path.endsWith('.sock') })
  }
}

/** Returns what a dead letter holds of its document. */
function textOf({ line, base64, document }: Record<'line' | 'base64' | 'document', unknown>): string {
  return typeof base64 === 'string'
    ? Buffer.from(base64, 'base64').toString('latin1')
    : JSON.stringify(line ?? document)
}
