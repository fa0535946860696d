/** What edits make of a document, worked out on a tree, one kind of edit after the other. It shares no code with `src/features/edits`. */
import type { EditOptions } from '../../../src/options/ingest-options.js'

/** JSON as it stood: texts of scalars and keys are raw, and keys may stand twice. */
export type Tree = string | readonly Tree[] | Fields
export interface Fields {
  readonly members: readonly Member[]
}
interface Member {
  readonly key: string
  readonly value: Tree
  /** The names that lead to it in the input. */
  readonly was?: string
}

const isFields = (tree: Tree): tree is Fields => typeof tree === 'object' && 'members' in tree
const nameOf = (key: string) => JSON.parse(key) as string

/** Parses valid JSON, and keeps what JSON.parse would lose. */
export function treeOf(text: string): Tree {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g) ?? []
  let at = 0
  function value(): Tree {
    const token = tokens[at++] as string
    if (token === '[') return list(']', value)
    if (token !== '{') return token
    return {
      members: list('}', () => {
        const key = tokens[at] as string
        at += 2
        return { key, value: value() }
      }),
    }
  }
  function list<T>(end: string, item: () => T): T[] {
    const items: T[] = []
    while (tokens[at] !== end) {
      items.push(item())
      if (tokens[at] === ',') at += 1
    }
    at += 1
    return items
  }
  return value()
}

/** Returns what becomes of a document, or undefined if it is rejected. */
export function editedTree(document: Tree, edits: EditOptions, values: Readonly<Record<string, string>>) {
  const { keep, drop = [], rename = {} } = edits
  let tree = pathed(document as Fields, '')
  if (keep !== undefined) tree = filtered(tree, keepRule(keep))
  tree = filtered(tree, ({ was }) => !drop.some(name => name === was || was?.startsWith(`${name}.`)))
  const renamed = renamedTree(tree, rename)
  return renamed === undefined ? undefined : Object.entries(values).reduce(withValue, plain(renamed) as Fields)
}

function pathed(tree: Fields, prefix: string): Fields {
  const inside = (value: Tree, path: string): Tree =>
    typeof value === 'string'
      ? value
      : isFields(value)
        ? pathed(value, `${path}.`)
        : value.map(one => inside(one, path))
  return {
    members: tree.members.map(({ key, value }) => {
      const was = prefix + nameOf(key)
      return { key, value: inside(value, was), was }
    }),
  }
}

type Rule = (member: Member) => boolean | 'inside'

function keepRule(keep: readonly string[]): Rule {
  return ({ was, value }) => {
    if (keep.some(name => name === was || was?.startsWith(`${name}.`))) return true
    return keep.some(name => name.startsWith(`${was}.`)) && typeof value !== 'string' ? 'inside' : false
  }
}

function filtered(tree: Fields, rule: Rule): Fields {
  const inside = (value: Tree, alone: boolean): Tree =>
    typeof value === 'string'
      ? value
      : isFields(value)
        ? filtered(value, rule)
        : value.filter(one => !alone || typeof one !== 'string').map(one => inside(one, alone))
  return {
    members: tree.members.flatMap(member => {
      const verdict = rule(member)
      return verdict === false ? [] : [{ ...member, value: inside(member.value, verdict === 'inside') }]
    }),
  }
}

function renamedTree(tree: Fields, rename: Readonly<Record<string, string>>): Fields | undefined {
  const olds = new Set<string>()
  const stay = new Set<string>()
  const moved = new Map<string, Tree>()
  let isTwice = false
  const walk = (value: Tree, prefix: string): Tree => {
    if (typeof value === 'string') return value
    if (!isFields(value)) return value.map(one => walk(one, prefix))
    return {
      members: value.members.flatMap(member => {
        const was = member.was as string
        const to = rename[was]
        if (to !== undefined) olds.add(was)
        else stay.add(was)
        if (to !== undefined && !to.startsWith(prefix)) {
          isTwice ||= moved.has(was)
          moved.set(was, member.value)
          return []
        }
        const key = to === undefined ? member.key : JSON.stringify(to.slice(prefix.length))
        return [{ ...member, key, value: walk(member.value, `${was}.`) }]
      }),
    }
  }
  const { members } = walk(tree, '') as Fields
  if (isTwice || [...olds].some(old => stay.has(rename[old] as string))) return undefined
  const added = Object.entries(rename).flatMap(([old, to]) => {
    const value = moved.get(old)
    return value === undefined ? [] : [{ key: JSON.stringify(to), value }]
  })
  return { members: [...members, ...added] }
}

function plain(tree: Tree): Tree {
  if (typeof tree === 'string') return tree
  if (!isFields(tree)) return tree.map(plain)
  return { members: tree.members.map(({ key, value }) => ({ key, value: plain(value) })) }
}

function withValue(tree: Fields, [name, text]: readonly [string, string]): Fields {
  let isSet = false
  let deepest: Fields = tree
  let depth = 0
  const look = (object: Fields, prefix: string, isInArray: boolean): Fields => ({
    members: object.members.flatMap(({ key, value }) => {
      const path = prefix + nameOf(key)
      if (path !== name) return [{ key, value: inside(value, `${path}.`, isInArray) }]
      if (isSet) return []
      isSet = true
      return [{ key, value: treeOf(text) }]
    }),
  })
  const inside = (value: Tree, prefix: string, isInArray: boolean): Tree => {
    if (typeof value === 'string' || !name.startsWith(prefix)) return value
    if (!isFields(value)) return value.map(one => inside(one, prefix, true))
    if (!isInArray && prefix.length > depth) {
      depth = prefix.length
      deepest = value
    }
    return look(value, prefix, isInArray)
  }
  const set = look(tree, '', false)
  if (isSet) return set
  const add = (value: Tree): Tree => {
    if (typeof value === 'string') return value
    if (!isFields(value)) return value.map(add)
    const members = value.members.map(one => ({ key: one.key, value: add(one.value) }))
    if (value !== deepest) return { members }
    return { members: [...members, { key: JSON.stringify(name.slice(depth)), value: treeOf(text) }] }
  }
  return add(tree) as Fields
}
