/**
 * Groups documents by shape: the fields that they have, and what kind of value each holds. Documents of one shape fare alike, so one
 * of each is enough to ask about. Keeps a limited number of shapes and bytes, however many documents there are.
 */
import type { Batch } from '../../base/flow.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import { isObject, type JsonObject, parseJson } from '../../base/json/parse-json.js'
import { type ValueKind, kindOf, parseExactly } from './value-kinds.js'

/** Where a document stands, as people read it: `orders.csv, line 812`. */
interface Counted {
  documents: number
  readonly first: string
}

/** A kind of values that documents have in one field. */
export interface ShapeFeature extends Counted {
  readonly path: string
  readonly kind: ShapeKind
}

/** Texts that mappings read in different ways have kinds of their own. */
export type ShapeKind =
  | ValueKind
  | 'a whole number as text'
  | 'a number as text'
  | 'true or false as text'
  | 'a date'
  | 'long text'

export interface Shape extends Counted {
  readonly index: string | undefined
  /** The first document of the shape, as it was read. */
  readonly document: Buffer
  readonly features: readonly ShapeFeature[]
}

/** Shapes that are kept. Beyond the first number, only those that show something new. */
const MOST_SHAPES = 1000
const MOST_WITH_NEWS = 2000
const MOST_FEATURES = 20_000
const MOST_BYTES = 32 << 20
const MOST_DOCUMENT_BYTES = 1 << 20

export class Shapes {
  readonly #shapes = new Map<string, Shape>()
  readonly #features = new Map<string, ShapeFeature>()
  #bytes = 0
  documents = 0
  /** Documents of shapes that are not kept. Each value in them is of a kind that another shape has. */
  similar = 0
  /** Documents that cannot be asked about: too large, or beyond every limit. */
  left = 0

  get all(): readonly Shape[] {
    return [...this.#shapes.values()]
  }

  get features(): readonly ShapeFeature[] {
    return [...this.#features.values()]
  }

  /** Takes the documents of a batch of whole documents. */
  take({ bytes, docs, origins }: Pick<Batch, 'bytes' | 'docs' | 'origins'>): void {
    const originOf = origins()
    let at = 0
    for (let ordinal = 0; ordinal < docs; ordinal += 1) {
      const action = bytes.indexOf(LINE_FEED, at)
      const end = bytes.indexOf(LINE_FEED, action + 1)
      if (action === -1 || end === -1) return
      const place = () => {
        const { input, line, document } = originOf(ordinal)
        return `${input}, ${line === undefined ? `document ${document}` : `line ${line}`}`
      }
      this.#add(bytes.subarray(at, action), bytes.subarray(action + 1, end), place)
      at = end + 1
    }
  }

  #add(action: Buffer, document: Buffer, place: () => string): void {
    this.documents += 1
    const parsed = document.length > MOST_DOCUMENT_BYTES ? undefined : parseExactly(document.toString())
    if (!isObject(parsed)) {
      this.left += 1
      return
    }
    const kinds = new Map<string, readonly [string, ShapeKind]>()
    look(parsed, '', kinds)
    const index = indexIn(action)
    const keys = [...kinds.keys()].toSorted()
    const key = `${index ?? ''}\n${keys.join('\n')}`
    let isNew = false
    const features = keys.flatMap(one => {
      const known = this.#features.get(one)
      if (known !== undefined) {
        known.documents += 1
        return [known]
      }
      const [path, kind] = kinds.get(one) ?? ['', 'text']
      if (this.#features.size >= MOST_FEATURES) return []
      isNew = true
      const feature = { path, kind, documents: 1, first: place() }
      this.#features.set(one, feature)
      return [feature]
    })
    const shape = this.#shapes.get(key)
    if (shape !== undefined) shape.documents += 1
    else if (!this.#hasRoom(isNew, document.length)) {
      if (isNew || features.length < keys.length) this.left += 1
      else this.similar += 1
    } else {
      this.#bytes += document.length
      this.#shapes.set(key, { index, document: Buffer.from(document), features, documents: 1, first: place() })
    }
  }

  #hasRoom(isNew: boolean, bytes: number): boolean {
    return this.#shapes.size < (isNew ? MOST_WITH_NEWS : MOST_SHAPES) && this.#bytes + bytes <= MOST_BYTES
  }
}

/** The index that an action line names. */
function indexIn(action: Buffer): string | undefined {
  if (!action.includes('"_index"')) return undefined
  const [of] = Object.values((parseJson(action) ?? {}) as JsonObject)
  const index = isObject(of) ? of['_index'] : undefined
  return typeof index === 'string' ? index : undefined
}

function look(value: JsonObject, above: string, kinds: Map<string, readonly [string, ShapeKind]>): void {
  for (const [name, one] of Object.entries(value)) lookAt(one, above + name, kinds)
}

function lookAt(value: unknown, path: string, kinds: Map<string, readonly [string, ShapeKind]>): void {
  if (Array.isArray(value)) {
    for (const one of value as unknown[]) lookAt(one, path, kinds)
    return
  }
  const plain = value === '' ? 'text' : kindOf(value)
  if (plain === undefined) return
  const kind = plain === 'text' ? textKind(value as string) : plain
  kinds.set(`${path}\t${kind}`, [path, kind])
  if (isObject(value)) look(value, `${path}.`, kinds)
}

/** More bytes than a keyword may have. */
const LONG_TEXT = 32_766

function textKind(text: string): ShapeKind {
  if (text.length > LONG_TEXT / 4 && Buffer.byteLength(text) > LONG_TEXT) return 'long text'
  if (text.length > 40) return 'text'
  if (/^[+-]?\d+$/.test(text)) return 'a whole number as text'
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return 'a number as text'
  if (text === 'true' || text === 'false') return 'true or false as text'
  return /^\d{4}(-\d{2}(-\d{2}([T ].*)?)?|\/\d{2}\/\d{2}.*)$/.test(text) ? 'a date' : 'text'
}
