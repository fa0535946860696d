// @module-tag long
/** Random stories of files that grow, are rotated, truncated, deleted and followed again, against a model of what must be stored. */
import { appendFile, mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'
import type { Receipt } from '../../../src/index.js'
import { otherIndex, path, shareLab } from '../../support/lab/shared-lab.js'
import { follow, type Followed, numbers } from './followed.js'

shareLab()

const SEEDS = Number(process.env['SLUICE_SEEDS'] ?? rounds(4, 100))
const FIRST = Number(process.env['SLUICE_SEED'] ?? 1)
const STEPS = 12
const NAMES = ['a.ndjson', 'b.ndjson', 'c.ndjson']

/** The last line of a file, which lacks its line feed. */
interface Open {
  readonly line: string
  readonly written: number
}

const whole: Open = { line: '', written: 0 }

class Story {
  readonly #random: Seeded
  readonly #folder: string
  /** Files that can grow. */
  readonly #files = new Map<string, Open>()
  /** Numbers in whole lines. */
  readonly #expected: number[] = []
  #next = 0
  #following: Followed

  constructor(random: Seeded, folder: string) {
    this.#random = random
    this.#folder = folder
    this.#following = this.#start()
  }

  async tell(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) await this.#step()
    const receipt = await this.#ended()
    expect(receipt).toMatchObject({ status: 'finished', exit: 0, duplicate: 0, rejected: 0, unsent: 0 })
    expect(numbers()).toEqual(this.#expected.toSorted((a, b) => a - b))
  }

  /** A file that was renamed between two looks is known again, because the glob matches it. */
  #start(): Followed {
    const more = { stateDir: `${this.#folder}/../state`, batchDocs: 1 + this.#random.below(5) }
    return follow(`${this.#folder}/*.ndjson*`, more)
  }

  async #ended(): Promise<Receipt> {
    await this.#following.stored(this.#expected.length)
    return await this.#following.stop()
  }

  async #step(): Promise<void> {
    const name = this.#random.pick(NAMES)
    const choice = this.#random.below(10)
    if (choice < 5 || !this.#files.has(name)) return await this.#append(name)
    if (choice === 5) return await this.#rotate(name)
    if (choice === 9) {
      // The signal comes while lines are under way.
      await this.#following.stop()
      this.#following = this.#start()
      return
    }
    // Bytes that are not read yet would be lost.
    await this.#following.stored(this.#expected.length)
    if (choice === 6) {
      await truncate(this.#at(name))
      this.#files.set(name, whole)
    } else if (choice === 7) {
      await rm(this.#at(name))
      this.#files.delete(name)
    } else {
      await writeFile(this.#at(name), this.#lines(1 + this.#random.below(20)))
      this.#files.set(name, whole)
    }
  }

  async #append(name: string): Promise<void> {
    const { line, written } = this.#files.get(name) ?? whole
    if (line !== '') this.#expect(line)
    const lines = this.#lines(this.#random.below(6))
    const open = this.#random.chance(0.3) ? this.#line() : ''
    const begun = this.#random.below(open.length)
    this.#files.set(name, { line: open, written: begun })
    await appendFile(this.#at(name), line.slice(written) + lines + open.slice(0, begun))
  }

  async #rotate(name: string): Promise<void> {
    await this.#following.stored(this.#expected.length)
    await rename(this.#at(`${name}.1`), this.#at(`${name}.2`)).catch(() => undefined)
    await appendFile(this.#at(name), (this.#files.get(name)?.line ?? '') === '' ? this.#lines(2) : '')
    await rename(this.#at(name), this.#at(`${name}.1`))
    const { line, written } = this.#files.get(name) ?? whole
    this.#files.delete(name)
    // A program may write to the file that it has open.
    if (this.#random.chance(0.5)) return
    if (line !== '') this.#expect(line)
    await appendFile(this.#at(`${name}.1`), line.slice(written) + this.#lines(2))
  }

  #at(name: string): string {
    return `${this.#folder}/${name}`
  }

  #line(): string {
    return `{"n":${this.#next++}}\n`
  }

  #lines(count: number): string {
    const lines = Array.from({ length: count }, () => this.#line())
    for (const line of lines) this.#expect(line)
    return lines.join('')
  }

  #expect(line: string): void {
    this.#expected.push((JSON.parse(line) as { n: number }).n)
  }
}

test.each(Array.from({ length: SEEDS }, (_, at) => FIRST + at))('story %i', async seed => {
  otherIndex()
  const folder = path(`story-${seed}/logs`)
  await mkdir(folder, { recursive: true })
  await new Story(seeded(seed), folder).tell()
})
