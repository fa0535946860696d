import { styleText } from 'node:util'
import { takenOf } from '../../base/operation.js'
import { bytes, count, plural, showDuration } from './columns.js'
import type { Snapshot } from './progress.js'

type Name =
  | 'state'
  | 'percent'
  | 'documents'
  | 'rejected'
  | 'bytes'
  | 'eta'
  | 'speed'
  | 'rows'
  | 'wire'
  | 'file'
  | 'underWay'
  | 'retries'
  | 'elapsed'

/** A part of the line, from its longest form to its shortest. */
interface Part {
  readonly name: Name
  readonly forms: readonly string[]
}

/** Steps that shorten a line. Each gives one part its next form, or leaves the part out after its last form. */
const steps: readonly Name[] = [
  ...(['elapsed', 'retries', 'speed', 'underWay', 'documents', 'file', 'bytes', 'state'] as const),
  ...([
    'underWay',
    'rows',
    'bytes',
    'file',
    'state',
    'wire',
    'eta',
    'file',
    'rejected',
    'documents',
    'percent',
  ] as const),
]

const colors: Partial<Record<Name, 'cyan' | 'yellow' | 'red'>> = { state: 'yellow', percent: 'cyan', rejected: 'red' }

/** Shows how far a run is, in one line that fits into the columns. `elapsedMs`: time since it began to load. */
export function progressLine(
  snapshot: Snapshot,
  elapsedMs: number,
  { columns, hasColors }: { readonly columns: number; readonly hasColors: boolean },
): string {
  const parts = partsOf(snapshot, elapsedMs).filter(({ forms }) => forms.length > 0)
  const at = new Map<Name, number>(parts.map(({ name }) => [name, 0]))
  const shown = () =>
    parts.flatMap(({ name, forms }) => {
      const form = at.get(name) ?? 0
      // What keeps a run from its work is always shown.
      const text = forms[name === 'state' ? Math.min(form, forms.length - 1) : form]
      return text === undefined ? [] : [{ name, text }]
    })
  const width = () => shown().reduce((sum, { text }) => sum + text.length + SEPARATOR.length, -SEPARATOR.length)
  for (const name of steps) {
    if (width() <= columns) break
    at.set(name, (at.get(name) ?? 0) + 1)
  }
  if (width() > columns)
    return shown()
      .map(({ text }) => text)
      .join(SEPARATOR)
      .slice(0, columns)
  return shown()
    .map(({ name, text }) => (hasColors ? colored(name, text) : text))
    .join(SEPARATOR)
}

const SEPARATOR = ' · '

function colored(name: Name, text: string): string {
  const color = colors[name]
  return color === undefined ? text : styleText(color, text, { validateStream: false })
}

function partsOf(snapshot: Snapshot, elapsedMs: number): readonly Part[] {
  const { counts, bytesRead, retries, wire, rows, standing } = snapshot
  const { bytes: stored, file, underWay = 0 } = standing ?? {}
  const documents = takenOf(standing?.ofRun ?? counts)
  const { rejected } = standing?.ofRun ?? counts
  const perSecond = elapsedMs > 0 ? (takenOf(counts) * 1000) / elapsedMs : 0
  const left = etaMs(snapshot, elapsedMs)
  const isStopping = standing?.isStopping === true
  return [
    { name: 'state', forms: stateOf(snapshot) },
    { name: 'percent', forms: stored === undefined ? [] : [`${percentOf(stored)}%`] },
    { name: 'documents', forms: [plural(documents, 'document'), plural(documents, 'doc')] },
    { name: 'rejected', forms: rejected === 0 ? [] : [`${count(rejected)} rejected`] },
    {
      name: 'bytes',
      forms:
        stored === undefined
          ? [bytes(bytesRead)]
          : [`${bytes(stored.read)} of ${bytes(stored.total)}`, `${bytes(stored.read)}/${bytes(stored.total)}`],
    },
    { name: 'eta', forms: left === undefined ? [] : [`ETA ${showRest(left)}`] },
    { name: 'speed', forms: [`${count(perSecond)}/s`] },
    { name: 'rows', forms: rows === undefined ? [] : [`${count(rows.read)} of ${count(rows.total)} rows`] },
    { name: 'wire', forms: wire === undefined ? [] : [`${bytes(wire.bytes)} of ${bytes(wire.budget)} on the wire`] },
    {
      name: 'file',
      forms:
        file === undefined || file.of < 2
          ? []
          : [
              `file ${count(file.number)} of ${count(file.of)}`,
              `file ${file.number}/${file.of}`,
              `${file.number}/${file.of}`,
            ],
    },
    {
      name: 'underWay',
      forms:
        underWay === 0 || isStopping ? [] : [`${plural(underWay, 'request')} under way`, plural(underWay, 'request')],
    },
    { name: 'retries', forms: retries === 0 ? [] : [retries === 1 ? '1 retry' : `${count(retries)} retries`] },
    { name: 'elapsed', forms: [showDuration(elapsedMs)] },
  ]
}

/** Says what keeps the run from its work, or that it ends. */
function stateOf({ standing, waiting }: Snapshot): readonly string[] {
  if (standing?.isStopping === true) {
    const { underWay } = standing
    return underWay === 0
      ? ['stopping']
      : [`stopping, ${plural(underWay, 'request')} left`, `stopping, ${underWay} left`]
  }
  if (waiting === undefined) return []
  const { what, since, code } = waiting
  const time = new Date(since).toTimeString().slice(0, 8)
  return [`waiting for ${what} since ${time} (${code})`, `waiting for ${what} since ${time}`, `${what} since ${time}`]
}

type Stored = NonNullable<NonNullable<Snapshot['standing']>['bytes']>

/** Bytes that are read are not stored yet, so the last percent is for the end. */
export function percentOf({ read, total }: Stored): number {
  return total === 0 ? 0 : Math.min(99, Math.floor((read * 100) / total))
}

/** Shorter than that, the speed says little. */
const SHORTEST_MS = 2000

/** How long the run will take, at the speed of this process. Undefined while that is unknown. */
export function etaMs({ standing, waiting, begunAt }: Snapshot, elapsedMs: number): number | undefined {
  const stored = standing?.bytes
  if (stored === undefined || waiting !== undefined || standing?.isStopping === true) return undefined
  const done = stored.read - (begunAt ?? 0)
  return elapsedMs < SHORTEST_MS || done <= 0 ? undefined : ((stored.total - stored.read) * elapsedMs) / done
}

function showRest(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
