/** Finds out how an index keeps documents, to compare them with others: as they were sent, built from their fields, or changed by a pipeline. */
import { explain, isSluiceError } from '../../../base/failure/failure.js'
import { isObject } from '../../../base/json/parse-json.js'
import { isSameDocument } from '../../../base/json/same-document.js'
import type { IndexFacts } from '../../cluster/indices.js'
import type { Cluster } from '../../cluster/open-cluster.js'
import { haveSameValues, type KeptFields, keptFields } from './same-values.js'

interface Storing {
  readonly cluster: Pick<Cluster, 'indices'>
  /** The pipeline that the load names. */
  readonly pipeline?: string | undefined
  onDoubt?(message: string): void
}

interface StoredForm {
  /** Set if the index builds each document from the values of its fields. */
  readonly fields?: KeptFields
  /** Whether a pipeline may have changed the document. */
  readonly isPiped: boolean
}

/** Asks the cluster about an index only if a stored document differs from the one that is sent. */
export class StoredForms {
  readonly #given: Storing
  readonly #forms = new Map<string, Promise<StoredForm>>()

  constructor(given: Storing) {
    this.#given = given
  }

  /** Returns `unclear` if a pipeline may have made the stored document of this one. Throws SluiceError if the cluster may answer later. */
  async compare(index: string, stored: Buffer, sent: Buffer): Promise<'same' | 'other' | 'unclear'> {
    if (isSameDocument(stored, sent)) return 'same'
    const { fields, isPiped } = await this.#formOf(index)
    if (fields !== undefined && haveSameValues(stored, sent, fields)) return 'same'
    return isPiped ? 'unclear' : 'other'
  }

  async #formOf(index: string): Promise<StoredForm> {
    const known = this.#forms.get(index)
    if (known !== undefined) return await known
    const asking = this.#ask(index)
    this.#forms.set(index, asking)
    asking.catch(() => this.#forms.delete(index))
    return await asking
  }

  async #ask(index: string): Promise<StoredForm> {
    const { cluster, pipeline, onDoubt } = this.#given
    const facts = await cluster.indices.read(index).catch((error: unknown) => {
      // Without the privilege, only the bytes count.
      if (isSluiceError(error) && explain(error.code).retry !== 'later') return []
      throw error
    })
    const isPiped = pipeline !== undefined || facts.some(hasPipeline)
    if (isPiped) onDoubt?.(mayBeChanged(index))
    const [one] = facts
    return one !== undefined && isRebuilt(one)
      ? { fields: keptFields(one.mappings, keepsLists(one)), isPiped }
      : { isPiped }
  }
}

function mayBeChanged(index: string): string {
  return `an ingest pipeline may have changed documents of ${index}, so Sluice cannot see whether those that exist are the same. It rejects them, or counts them as unknown if an earlier attempt may have stored them`
}

function hasPipeline({ settings }: IndexFacts): boolean {
  return ['index.default_pipeline', 'index.final_pipeline'].some(name => (settings[name] ?? '_none') !== '_none')
}

function isRebuilt({ settings, mappings }: IndexFacts): boolean {
  const { _source: source } = mappings
  const mode = settings['index.mapping.source.mode'] ?? (isObject(source) ? source['mode'] : undefined)
  if (typeof mode === 'string') return mode.toLowerCase() === 'synthetic'
  return BUILDING.has(settings['index.mode'])
}

/** Since 8.18, an index of logs keeps lists as they were sent, unless its settings say otherwise. */
function keepsLists({ settings }: IndexFacts): boolean {
  const usual = settings['index.mode'] === 'logsdb' ? 'arrays' : 'none'
  return (settings['index.mapping.synthetic_source_keep'] ?? usual) !== 'none'
}

/** Indices of these modes build documents if nothing else is set. */
const BUILDING: ReadonlySet<unknown> = new Set(['logsdb', 'time_series'])
