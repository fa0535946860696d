/** Checks what stands in the file of a run. It may be of another version, or somebody may have written into it. */
import { isObject, type JsonObject } from '../../../base/json/parse-json.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import type { RunEnd } from './checkpoint.js'

type Shape = (value: unknown) => boolean

const text: Shape = value => typeof value === 'string'
const number: Shape = value => typeof value === 'number'
const time: Shape = value => typeof value === 'string' && !Number.isNaN(Date.parse(value))
const list =
  (of: Shape): Shape =>
  value =>
    Array.isArray(value) && value.every(of)
const record =
  (of: Shape): Shape =>
  value =>
    isObject(value) && Object.values(value).every(of)
/** Fields that are there have their kind, and the required ones are there. */
const object =
  (fields: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape =>
  value =>
    isObject(value) &&
    required.every(name => value[name] !== undefined) &&
    Object.entries(fields).every(([name, isFit]) => value[name] === undefined || isFit(value[name]))

const counts = Object.fromEntries(Object.keys(nothing).map(name => [name, number]))
const failure = object({ code: text, message: text, evidence: isObject }, ['code', 'message', 'evidence'])
const target = object({ url: text, index: text, alias: text })
const input = object(
  {
    name: text,
    status: text,
    read: number,
    readAs: text,
    resumedAt: number,
    since: time,
    loadedBy: object({ run: text, at: time }, ['run', 'at']),
    loadedAs: text,
    plan: text,
    failure,
  },
  ['name', 'status', 'read'],
)

/** What is known of each run. */
const basic = { run: text, status: text, command: text, began: time, ended: time, exit: number, target }
const required = ['run', 'status', 'command', 'began']

const fields: Readonly<Record<string, Shape>> = {
  ...basic,
  ...counts,
  failure,
  inputs: list(input),
  inputCount: number,
  undone: object({ at: time, deleted: number }, ['at', 'deleted']),
  thisProcess: record(number),
  rejections: list(
    value =>
      isObject(value) && Object.entries(value).every(([name, of]) => (name === 'documents' ? number(of) : of !== null)),
  ),
  bytes: object({ read: number, sent: number, received: number }, ['read', 'sent', 'received']),
  compression: object({ used: text, why: text }, ['used', 'why']),
  requests: number,
  retries: number,
  elapsedMs: number,
  docsPerSecond: number,
  route: object({ form: text, proxy: text, connections: number }, ['form', 'connections']),
  egress: record(number),
  cluster: object({ url: text, name: text, version: text }, ['url']),
  deadLetters: text,
  gaps: list(object({ name: text, since: text }, ['name', 'since'])),
  notes: list(text),
  checkpoint: text,
}

const letters = { path: text, length: number }

/** Checks fields of a checkpoint that may be absent. */
export const hasFittingOptions: Shape = object({
  settles: list(text),
  replays: list(text),
  limitFrom: object({ read: number, rejected: number }, ['read', 'rejected']),
  deadLetters: object(
    {
      ...letters,
      writer: text,
      earlier: list(object({ ...letters, documents: number }, ['path', 'length', 'documents'])),
    },
    ['path', 'length'],
  ),
})

/** Returns the end of a run, or only its basic facts if a part of it is of another kind. Undefined if the value is no end. */
export function endIn(value: unknown): RunEnd | undefined {
  if (!isObject(value) || !object(basic, required)(value)) return undefined
  const isWhole = object(fields)(value)
  return (isWhole ? value : onlyBasic(value)) as unknown as RunEnd
}

function onlyBasic(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(basic).flatMap(name => (value[name] === undefined ? [] : [[name, value[name]]])),
  )
}
