/** What is known of one failure, whenever and wherever it is seen. */
export interface Entry {
  /** The part of the path that refused. */
  readonly stage: Stage
  /** Exit code of a run that ends with this failure. */
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6 | 70
  readonly retry: 'no' | 'later'
  readonly title: string
  readonly message: string
  readonly causes: readonly string[]
  readonly fixes: readonly string[]
}

/** The parts of the path, in its order. */
export type Stage = 'options' | 'input' | 'proxy' | 'egress' | 'cluster' | 'index' | 'run'

/** The failures of one part of the path. */
export type Entries<S extends Stage> = Readonly<Record<string, Entry & { readonly stage: S }>>
