import type { Lab } from '../../../src/lab/index.js'

export interface NamedCluster {
  /** The same for each lab. */
  readonly url: string
  readonly proxy: string
  /** The environment of a command. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

export function nameCluster(lab: Lab): Promise<NamedCluster>
