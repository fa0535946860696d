import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Source } from '../../base/flow.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { Feature, NamedInputs, Run, RunHook } from './hooks.js'

/** The hooks of a run, in the order of its features. */
export class HookList implements AsyncDisposable {
  readonly all: readonly RunHook[]
  readonly #tell: Run['tell']
  #isDisposed = false

  constructor(all: readonly RunHook[], { tell }: Pick<Run, 'tell'>) {
    this.all = all
    this.#tell = tell
  }

  static async open(features: readonly Feature[], run: Run): Promise<HookList> {
    const all: RunHook[] = []
    for (const feature of features) {
      const hook = await feature(run)
      if (hook !== undefined) all.push(hook)
    }
    return new HookList(all, run)
  }

  identify(plain: RunIdentity): RunIdentity {
    return this.all.reduce((identity, hook) => hook.identify?.(identity) ?? identity, plain)
  }

  async sources(named: NamedInputs, signal: AbortSignal): Promise<readonly Source[]> {
    const finder = this.all.find(({ sources }) => sources !== undefined)
    if (finder?.sources !== undefined) return await finder.sources(named, signal)
    const { source, stdin } = named
    const warn = (message: string) => this.#tell({ type: 'warning', message })
    return await findSources(source, { signal, warn, ...(stdin === undefined ? {} : { stdin }) })
  }

  admit(batch: Batch): Failure | undefined {
    for (const { admit } of this.all) {
      const refused = admit?.(batch)
      if (refused !== undefined) return refused
    }
    return undefined
  }

  /** Runs what may fail, lets each hook name the error, and disposes of the hooks. */
  async around<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      let why: unknown = error
      for (const hook of this.all) why = hook.failed === undefined ? why : await hook.failed(why)
      throw why
    } finally {
      await this[Symbol.asyncDispose]()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return
    this.#isDisposed = true
    for (const hook of this.all) await hook.dispose?.()
  }
}
