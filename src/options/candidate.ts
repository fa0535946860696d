import type { OptionName } from './table.js'

/** How strong a value's source is: the flag beats the environment, the environment the file, the file the default. */
export type Layer = 'flag' | 'environment' | 'file' | 'default'

/** What one option is set to before it is read. */
export interface Candidate {
  readonly raw: unknown
  readonly layer: Layer
  readonly origin: string
  /** Option and place, for messages: `--url`, `ELASTICSEARCH_URL`, `url in sluice.config.json`. */
  readonly said: string
}

export type Candidates = ReadonlyMap<OptionName, Candidate>
