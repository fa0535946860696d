// Node replaces process.chdir when it loads this module.
import 'node:worker_threads'

/** Values of everything that test files of one worker share, by name: `process.env.HOME`, `JSON.parse`, `working folder`. */
export type Globals = ReadonlyMap<string, unknown>

const objects: Readonly<Record<string, object>> = {
  globalThis,
  process,
  'process.env': process.env,
  'process.stdout': process.stdout,
  'process.stderr': process.stderr,
  console,
  JSON,
  Math,
  Date,
  performance,
  'Array.prototype': Array.prototype,
  'Object.prototype': Object.prototype,
  'String.prototype': String.prototype,
  'Promise.prototype': Promise.prototype,
}

/** Libraries set most of these once, when they are loaded. Every later file sees the same. */
const passedOver: readonly RegExp[] = [
  /^globalThis\.__/, // helpers of tslib
  /^globalThis\.Symbol\((?:undici\.globalDispatcher|opentelemetry)/,
  /^globalThis\.awslambda$/,
  /^process\.env\.AWS_SDK_JS_/,
  /^process\._eventsCount$/, // follows from the listeners
]

/** Reads everything that test files of one worker share. */
export function globalsNow(): Globals {
  const globals = new Map<string, unknown>([
    ['working folder', process.cwd()],
    ['umask', process.umask()],
    ['exit code', process.exitCode],
    ['arguments', process.argv.join(' ')],
    ...process.eventNames().map(name => [`listeners of ${String(name)}`, process.listenerCount(name)] as const),
  ])
  for (const [name, object] of Object.entries(objects))
    for (const key of Reflect.ownKeys(object)) {
      const { value, get } = Object.getOwnPropertyDescriptor(object, key) ?? {}
      // Node replaces a getter by its value when somebody first reads it.
      globals.set(`${name}.${String(key)}`, get === undefined ? (value as unknown) : computed)
    }
  return globals
}

const computed = Symbol('computed')

/** Lists what has changed between two looks, as sentences: `process.env.HOME has changed`. */
export function changesBetween(before: Globals, after: Globals): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return names
    .filter(name => !passedOver.some(pattern => pattern.test(name)) && before.get(name) !== computed)
    .filter(name => !Object.is(before.get(name), after.get(name)))
    .map(name => {
      if (!before.has(name)) return `${name} is new`
      return after.has(name) ? `${name} has changed` : `${name} is gone`
    })
}
