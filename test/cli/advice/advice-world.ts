/** A folder, a lab and a state, in which the advice of a failure is followed as somebody would who reads it. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { Lab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { sluiceHere } from '../../support/command/in-process.js'
import { type Ended, shell } from '../../support/command/sluice.js'

/** What is meant by the words of a command that somebody has to replace. */
type Meant = Readonly<Record<string, string>>

export class AdviceWorld implements AsyncDisposable {
  readonly lab: Lab
  readonly index = newIndex('advice')
  readonly folder: string
  /** The text of the advice that is followed. */
  readonly advice: string
  #command: readonly string[] = []

  private constructor(lab: Lab, folder: string, advice: string) {
    this.lab = lab
    this.folder = folder
    this.advice = advice
  }

  static async open(lab: Lab, advice: string): Promise<AdviceWorld> {
    return new AdviceWorld(lab, await mkdtemp(join(tmpdir(), 'advice-')), advice)
  }

  get stored(): number {
    return this.lab.control.count(this.index)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  async file(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(this.path(name)), { recursive: true })
    await writeFile(this.path(name), content)
  }

  /** Changes the dead letters. Returns their path. */
  async edit(change: (record: Record<string, unknown>) => object = record => record): Promise<string> {
    const path = await this.letters()
    const records = (await readFile(path, 'utf8')).split('\n').filter(Boolean)
    const changed = records.map(record => change(JSON.parse(record) as Record<string, unknown>))
    await writeFile(path, changed.map(record => `${JSON.stringify(record)}\n`).join(''))
    return path
  }

  async letters(): Promise<string> {
    const [name] = (await readdir(this.folder)).filter(one => one.startsWith('sluice-dead-letters'))
    if (name === undefined) throw new Error('there are no dead letters')
    return this.path(name)
  }

  async sluice(args: readonly string[], more: Meant = {}): Promise<Ended> {
    return await sluiceHere(args, { cwd: this.folder, env: this.#env(more) })
  }

  async load(name: string, ...more: readonly string[]): Promise<Ended> {
    return await this.sluice(['ingest', name, '--index', this.index, ...more])
  }

  /** Runs a command that must print the advice. */
  async advised(command: readonly string[], more: Meant = {}): Promise<Ended & { readonly run: string }> {
    this.#command = command
    const ended = await this.sluice(command, more)
    const said = `${ended.stdout}\n${ended.stderr}`
    expect(said.replaceAll(/\s+/g, ' ')).toContain(this.advice)
    return { ...ended, run: said.match(/\d{8}T\d{6}Z-\w+/g)?.at(-1) ?? '' }
  }

  /** Loads a file, which must print the advice. */
  async advisedLoad(name: string, ...more: readonly string[]) {
    return await this.advised(['ingest', name, '--index', this.index, ...more])
  }

  /** Runs the same command again, which must end with this exit code. */
  async same(code: number, ...more: readonly string[]): Promise<Ended> {
    return await this.#ends(code, [...this.#command, ...more])
  }

  /** Runs a command as the advice prints it, which must end with this exit code. `number`: of several commands. `answer`: to the question of a terminal. */
  async follow(
    code: number,
    meant: Meant = {},
    { number = 0, answer }: { readonly number?: number; readonly answer?: '--yes' } = {},
  ): Promise<Ended> {
    const commands = [...this.advice.matchAll(/`sluice ([^`]+)`/g)].map(([, command = '']) => command)
    const words = commands[number]?.split(' ') ?? []
    const command = words.map(word => meant[word] ?? word)
    return await this.#ends(code, answer === undefined ? command : [...command, answer])
  }

  /** Runs the line of shell that the advice prints. */
  async pipe(meant: Meant): Promise<void> {
    const [, line = ''] = /`([^`]+ \| sluice [^`]+)`/.exec(this.advice) ?? []
    const words = line.split(' ').map(word => meant[word] ?? (word === 'sluice' ? '$SLUICE' : word))
    const ended = await shell(words.join(' '), { cwd: this.folder, env: this.#env({}) })
    expect(ended, `${words.join(' ')}\n${ended.stderr}`).toMatchObject({ code: 0 })
  }

  #env(more: Meant): Record<string, string> {
    const own = { SLUICE_STATE_DIR: this.path('state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
    return { ...this.lab.env, ...own, ...more }
  }

  async #ends(code: number, command: readonly string[]): Promise<Ended> {
    const ended = await this.sluice(command)
    expect(ended, `sluice ${command.join(' ')}\n${ended.stderr}`).toMatchObject({ code })
    return ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.lab.control.heal()
    this.lab.control.register('both')
    await rm(this.folder, { recursive: true })
  }
}

/** Options with which a load stops after some batches. */
export const budget = ['--byte-budget', '15000', '--compress', 'none', '--batch-docs', '50', '--concurrency', '1']

export type Play = (world: AdviceWorld) => Promise<void>
