import type { OptionName } from './table.js'

/** How strong a value's source is: the flag beats the environment, the environment the file, the file the default. */
export type Layer = 'flag' | 'environment' | 'file' | 'default'

/** The raw setting of one option. */
export interface Candidate {
  readonly raw: unknown
  readonly layer: Layer
  readonly origin: string
  /** Option and place, for messages: `--url`, `ELASTICSEARCH_URL`, `url in sluice.config.json`. */
  readonly said: string
}

export type Candidates = ReadonlyMap<OptionName, Candidate>
