/** Checks what stands in the file of a run. It may be of another version, or somebody may have written into it. */
import { isObject, type JsonObject } from '../../../base/json/parse-json.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import type { RunEnd } from './checkpoint.js'

type Shape = (value: unknown) => boolean

const string: Shape = value => typeof value === 'string'
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
const failure = object({ code: string, message: string, evidence: isObject }, ['code', 'message', 'evidence'])
const target = record(string)
const input = object(
  {
    name: string,
    status: string,
    read: number,
    readAs: string,
    resumedAt: number,
    since: time,
    loadedBy: object({ run: string, at: time }, ['run', 'at']),
    loadedAs: string,
    plan: string,
    failure,
  },
  ['name', 'status', 'read'],
)

/** The fields that the state of every run has. */
const basic = { run: string, status: string, command: string, began: time, ended: time, exit: number, target }
const required = ['run', 'status', 'command', 'began']

const fields: Readonly<Record<string, Shape>> = {
  ...basic,
  ...counts,
  failure,
  inputs: list(input),
  inputCount: number,
  undone: object({ at: time, deleted: number, with: string, isPart: value => typeof value === 'boolean' }, [
    'at',
    'deleted',
  ]),
  thisProcess: record(number),
  rejections: list(
    value =>
      isObject(value) && Object.entries(value).every(([name, of]) => (name === 'documents' ? number(of) : of !== null)),
  ),
  bytes: object({ read: number, sent: number, received: number }, ['read', 'sent', 'received']),
  compression: object({ used: string, why: string }, ['used', 'why']),
  requests: number,
  retries: number,
  elapsedMs: number,
  docsPerSecond: number,
  route: object({ form: string, proxy: string, connections: number }, ['form', 'connections']),
  egress: record(number),
  cluster: object({ url: string, name: string, version: string }, ['url']),
  deadLetters: string,
  gaps: list(object({ name: string, since: string }, ['name', 'since'])),
  notes: list(string),
  checkpoint: string,
}

const letters = { path: string, length: number }

/** Checks fields of a checkpoint that may be absent. */
export const hasFittingOptions: Shape = object({
  settles: list(string),
  replays: list(string),
  limitFrom: object({ read: number, rejected: number }, ['read', 'rejected']),
  deadLetters: object(
    {
      ...letters,
      writer: string,
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
