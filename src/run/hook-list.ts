import type { Source } from '../flow.js'
import type { RunIdentity } from '../state/run-identity.js'
import type { Feature, Run, RunHook, RunPlace } from './hooks.js'

/** The hooks of a run, in the order of its features. */
export class HookList implements AsyncDisposable {
  readonly all: readonly RunHook[]
  #isDisposed = false

  constructor(all: readonly RunHook[]) {
    this.all = all
  }

  static async open(features: readonly Feature[], run: Run): Promise<HookList> {
    const all: RunHook[] = []
    for (const feature of features) {
      const hook = await feature(run)
      if (hook !== undefined) all.push(hook)
    }
    return new HookList(all)
  }

  get sources(): readonly Source[] | undefined {
    return this.all.find(({ sources }) => sources !== undefined)?.sources
  }

  get origin(): string | undefined {
    return this.all.find(({ origin }) => origin !== undefined)?.origin
  }

  get keepsInputs(): boolean {
    return this.all.some(({ keepsInputs }) => keepsInputs === true)
  }

  folder(place: RunPlace): string | undefined {
    return this.all.map(hook => hook.folder?.(place)).find(folder => folder !== undefined)
  }

  identify(plain: RunIdentity): RunIdentity {
    return this.all.reduce((identity, hook) => hook.identify?.(identity) ?? identity, plain)
  }

  async inputs(found: readonly Source[], folder: string | undefined): Promise<readonly Source[]> {
    let sources = found
    for (const hook of this.all) sources = (await hook.inputs?.(sources, folder)) ?? sources
    return sources
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
