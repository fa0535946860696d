/** What test files of one worker share, and which changes of it matter. */
import dns from 'node:dns'
import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
// Node replaces process.chdir when it loads this module.
import 'node:worker_threads'

/** Values of everything that test files of one worker share, by name: `process.env.HOME`, `JSON.parse`, `working folder`. */
export type Globals = ReadonlyMap<string, unknown>

const modules = { dns, EventEmitter, fs, http, https, net, tls, process }
const agents = {
  'http.globalAgent.options': (http.globalAgent as unknown as { options: object }).options,
  'https.globalAgent.options': https.globalAgent.options,
}
const streamsAndModules = {
  ...modules,
  ...agents,
  'process.env': process.env,
  'process.stdout': process.stdout,
  'process.stderr': process.stderr,
}

/** Libraries set most of these once, when they are loaded. Every later file sees the same. */
const passedOver: readonly RegExp[] = [
  /^globalThis\.__/, // helpers of tslib
  /^globalThis\.Symbol\((?:undici\.globalDispatcher|opentelemetry)/,
  /^globalThis\.awslambda$/,
  /^Reflect\.(?:decorate$|\w*Metadata|metadata$|Symbol\(@reflect-metadata)/,
  /^process\.env\.AWS_SDK_JS_/,
  /^fs\.(?:close|closeSync)$|^process\.(?:chdir|cwd)$|Symbol\((?:graceful-fs|signal-exit)/, // libraries of the browser's driver
  /^process\.(?:exit$|env\.VITEST_)/, // Vitest sets them for each file
  /^process\._eventsCount$/, // follows from the listeners
  /^Error\.prepareStackTrace$/, // Vitest maps stacks
]

/** Reads everything that test files of one worker share. */
export function globalsNow(): Globals {
  const globals = new Map<string, unknown>([
    ['working folder', process.cwd()],
    ['umask', process.umask()],
    ['exit code', process.exitCode],
    ['arguments', process.argv.join(' ')],
    ['order of addresses', dns.getDefaultResultOrder()],
    ['choice of address family', net.getDefaultAutoSelectFamily()],
    ...process.eventNames().map(name => [`listeners of ${String(name)}`, process.listenerCount(name)] as const),
  ])
  for (const [name, object] of [...Object.entries(builtins()), ...Object.entries(streamsAndModules)])
    for (const key of Reflect.ownKeys(object)) {
      const { value, get } = Object.getOwnPropertyDescriptor(object, key) ?? {}
      // Node replaces a getter by its value when it is first read.
      globals.set(`${name}.${String(key)}`, get === undefined ? (value as unknown) : computed)
    }
  return globals
}

const computed = Symbol('computed')

/** Returns the objects of the language: `Map`, `Map.prototype`, `JSON`. */
function builtins(): Record<string, object> {
  const found: Record<string, object> = { globalThis }
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    if (key.startsWith('__')) continue
    const { value } = Object.getOwnPropertyDescriptor(globalThis, key) as { value?: unknown }
    const isOther = ['JSON', 'Math', 'Reflect', 'Atomics', 'console', 'performance'].includes(key)
    if (typeof value !== 'function' && (!isOther || value === undefined)) continue
    found[key] = value as object
    const { prototype } = value as { prototype?: unknown }
    if (typeof prototype === 'object' && prototype !== null) found[`${key}.prototype`] = prototype
  }
  return found
}

/** Lists what has changed between two looks, as sentences: `process.env.HOME has changed`. */
export function changesBetween(before: Globals, after: Globals): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])]
  return (
    names
      .filter(name => !passedOver.some(pattern => pattern.test(name)) && before.get(name) !== computed)
      // Node shows the objects of a global only once it is read: `crypto`, and then `Crypto.prototype`.
      .filter(name => before.has(name) || !isOfLateGlobal(name, before))
      .filter(name => !Object.is(before.get(name), after.get(name)))
      .map(name => {
        if (!before.has(name)) return `${name} is new`
        return after.has(name) ? `${name} has changed` : `${name} is gone`
      })
  )
}

function isOfLateGlobal(name: string, before: Globals): boolean {
  const [first = ''] = name.split('.')
  return !(first in streamsAndModules) && before.get(`globalThis.${first}`) === computed
}
