/** Writes down how a run ended, also one that never began, so that `sluice runs` can show it. */
import { failure, type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { InputSection, StateSection } from '../../options/load.js'
import { knownSecrets, masked, withoutKnown } from '../../base/secrets.js'
import { fullName, listedIn, namedIn } from '../../options/names.js'
import type { FoundRun } from '../state/resume/find-run.js'
import { addEnd, endOf, endOfRefused, recordRun } from '../state/runs/history.js'
import type { ListCopies } from '../state/runs/runs.js'
import { prune } from '../state/runs/prune.js'
import type { RunEnd } from '../state/checkpoint/checkpoint.js'
import { newRunId } from '../../base/checksum/tokens.js'

interface RecordedRun {
  readonly command: string
  readonly inputs: Pick<InputSection, 'source'>
  /** Absent: nothing is written down. */
  readonly stateDir: string | undefined
  readonly state: Pick<StateSection, 'runId' | 'keepRuns' | 'keepDays'>
  /** Never written. */
  readonly secrets: readonly string[]
  readonly listCopies: ListCopies
  /** Where documents go, as far as the options say it. */
  readonly target: RunEnd['target']
  readonly warn: (message: string) => void
}

export class RunRecord {
  readonly command: string
  readonly began = new Date()
  readonly #about: RecordedRun
  #found: Pick<FoundRun, 'plan' | 'target'> | undefined
  /** The file of the run, if this process writes it. */
  #path: string | undefined
  #isWritten = false
  /** The state folder cannot be written: no second attempt. */
  #isDiskRefusing = false
  readonly #secrets: string[]

  constructor(about: RecordedRun) {
    this.command = about.command
    this.#about = about
    this.#secrets = [...about.secrets]
  }

  /** Hides new credentials, which are not checked yet. */
  hide(fresh: unknown): void {
    if (typeof fresh !== 'object' || fresh === null) return
    const given = Object.entries(fresh).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'string' ? value : '',
    ])
    const { apiKey, username, password, proxy } = Object.fromEntries(given) as Record<string, string | undefined>
    this.#secrets.push(...knownSecrets({ apiKey, username, password }, proxy))
  }

  /** Returns what a server said without the credentials of this run, which it may repeat. */
  readonly masked = <T>(said: T): T => withoutKnown(said, this.#secrets)

  found(found: FoundRun): void {
    this.#found = found
  }

  keptAt(path: string): void {
    this.#path = path
  }

  /** Runs the load while its inputs are locked, and adds its end to the file of the run. */
  async around(load: () => Promise<Receipt>): Promise<Receipt> {
    try {
      const receipt = await load()
      await this.#write(endOf(receipt, this.#path !== undefined))
      return receipt
    } catch (error) {
      throw await this.refused(error)
    }
  }

  /** Writes down why the run failed, once. Returns the error with the id of the run. */
  async refused(error: unknown): Promise<unknown> {
    if (this.#isWritten) return error
    const receipt = isSluiceError(error) ? (error.receipt as Receipt | undefined) : undefined
    const ended = receipt === undefined ? this.#refusal(error) : endOf(receipt, this.#path !== undefined)
    this.#isDiskRefusing ||= ended.failure?.code.startsWith('STATE_') === true
    await this.#write(ended)
    const isListed = this.#about.stateDir !== undefined || this.#found !== undefined
    if (isSluiceError(error) && isListed) error.run = ended.run
    return error
  }

  /** Removes old runs. */
  async prune(): Promise<void> {
    const { stateDir, state, listCopies, warn } = this.#about
    if (stateDir === undefined || this.#isDiskRefusing) return
    await prune(stateDir, state, listCopies).catch((error: unknown) =>
      warn(`Sluice could not remove old runs: ${messageOf(error)}`),
    )
  }

  #refusal(error: unknown): RunEnd {
    const { command, state } = this.#about
    const { run = state.runId ?? newRunId() } = this.#found?.plan ?? {}
    const target = this.#found === undefined ? this.#about.target : targetOf(this.#found)
    return endOfRefused({ run, command, began: this.began, target, failure: failureOf(error) })
  }

  async #write(ended: RunEnd): Promise<void> {
    this.#isWritten = true
    const { stateDir, inputs, warn } = this.#about
    if (stateDir === undefined || this.#isDiskRefusing) return
    const shown = masked(ended, this.#secrets)
    const sources = masked([...namedIn(inputs.source), ...(listedIn(inputs.source) ?? [])].map(fullName), this.#secrets)
    try {
      if (this.#path === undefined) await recordRun(stateDir, sources, shown)
      else await addEnd(this.#path, shown)
    } catch (error) {
      this.#isDiskRefusing = true
      warn(`Sluice could not record how the run ended: ${messageOf(error)}`)
    }
  }
}

/** Returns where the documents of a run go, as its receipt says it. */
export function targetOf({ target: { url, index, alias } }: Pick<FoundRun, 'target'>): Receipt['target'] {
  return { url, index, ...(alias === undefined ? {} : { alias }) }
}

function failureOf(error: unknown): Failure {
  return isSluiceError(error) ? error.failure : failure('INTERNAL', { problem: messageOf(error) })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
