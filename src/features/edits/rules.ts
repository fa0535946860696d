/** Works out once what the edits of a run do with each field, so that a document is walked only as deep as a name leads. */
import type { EditSection } from '../../options/load.js'

/** The edits of the fields of one object. */
export interface Level {
  /** The names that lead to it: `user.` inside `user`, nothing at the top. */
  readonly prefix: string
  /** Whether only fields that are named stay. */
  readonly keeps: boolean
  /** Fields by the length of their name in bytes. */
  readonly fields: readonly (readonly Field[] | undefined)[]
  /** Beginnings of names that are inside a dropped or a kept field, as `user.` in `user.id`. */
  readonly dropped: readonly Buffer[]
  readonly kept: readonly Buffer[]
  /** Values that belong into this object if the document does not have their field. */
  readonly inserts: readonly { readonly set: number; readonly key: Buffer }[]
}

/** The edits of one field. An absent part means no such edit. */
export interface Field {
  /** Its name in this object, as UTF-8. */
  readonly name: Buffer
  readonly isDropped: boolean
  /** Whether only what is inside of it may stay. */
  readonly isWay: boolean
  /** The number of its new value. */
  readonly set?: number
  readonly rename?: Renaming
  /** The numbers of renamed fields that get this name. */
  readonly targets: readonly number[]
  readonly inside?: Level
}

interface Renaming {
  readonly number: number
  /** The new name in the same object, with its quotes. Absent: the field moves to the end of the document. */
  readonly key?: Buffer
}

/** The edits of a run, by number. */
export interface Rules {
  readonly top: Level
  readonly sets: readonly string[]
  readonly renames: readonly (readonly [from: string, to: string])[]
}

/** Turns edits into rules. A name with dots leads into objects, or stands as it is: `a.b` is in `{"a":{"b":1}}` and in `{"a.b":1}`. */
export function rulesOf({ set = {}, drop = [], keep, rename = {} }: EditSection): Rules {
  const sets = Object.keys(set)
  const renames = Object.entries(rename)
  const kept = keep ?? []
  const named = [...new Set([...drop, ...kept, ...renames.flat(), ...sets])]

  function level(prefix: string, keeps: boolean, takesSets: boolean): Level {
    const names = new Set<string>()
    for (const name of named) {
      if (!name.startsWith(prefix)) continue
      for (let dot = name.indexOf('.', prefix.length); dot !== -1; dot = name.indexOf('.', dot + 1))
        names.add(name.slice(prefix.length, dot))
      names.add(name.slice(prefix.length))
    }
    const fields: Field[][] = []
    for (const name of names) {
      const one = field(prefix, name, keeps, takesSets)
      ;(fields[one.name.length] ??= []).push(one)
    }
    const inserts = sets.flatMap((name, number) =>
      takesSets && name.startsWith(prefix) ? [{ set: number, key: quoted(name.slice(prefix.length)) }] : [],
    )
    return { prefix, keeps, fields, inserts, dropped: beginnings(drop, prefix), kept: beginnings(kept, prefix) }
  }

  function field(prefix: string, name: string, keeps: boolean, takesSets: boolean): Field {
    const path = prefix + name
    const isInside = (other: string) => other.startsWith(`${path}.`)
    const isOf = (other: string) => path === other || path.startsWith(`${other}.`)
    const isKept = !keeps || kept.some(isOf)
    const isWay = !isKept && kept.some(isInside)
    const number = renames.findIndex(([from]) => from === path)
    const set = takesSets && number === -1 ? sets.indexOf(path) : -1
    // Fields inside a renamed field have their names of the input. Values to set name fields of the output.
    const setsInside = takesSets && number === -1
    const others = [...drop, ...renames.flat(), ...(isWay ? kept : []), ...(setsInside ? sets : [])]
    const to = renames[number]?.[1]
    const key = to?.startsWith(prefix) === true ? { key: quoted(to.slice(prefix.length)) } : {}
    return {
      name: Buffer.from(name),
      isDropped: drop.some(isOf) || (!isKept && !isWay),
      isWay,
      ...(set === -1 ? {} : { set }),
      ...(number === -1 ? {} : { rename: { number, ...key } }),
      targets: renames.flatMap(([, one], at) => (one === path ? [at] : [])),
      ...(others.some(isInside) ? { inside: level(`${path}.`, isWay, setsInside) } : {}),
    }
  }

  return { top: level('', keep !== undefined, true), sets, renames }
}

function beginnings(names: readonly string[], prefix: string): Buffer[] {
  return names.flatMap(name => (name.startsWith(prefix) ? [Buffer.from(`${name.slice(prefix.length)}.`)] : []))
}

function quoted(name: string): Buffer {
  return Buffer.from(JSON.stringify(name))
}
