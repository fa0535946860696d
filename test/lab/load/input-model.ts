/**
 * A model of what an index must hold after any sequence of loads. It knows lines, files and records of loads, and nothing of how
 * Sluice keeps its state.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs'

/** What the loads of a file have in the index. */
interface Loaded {
  /** The text of the file when it was loaded last. */
  content: string
  path: string
  inode: number
  op: string
  /** Lines that are certainly there. Each other line may be. */
  certain: string
  isOpen: boolean
}

export interface SeenFile {
  /** Without symbolic links. */
  readonly path: string
  readonly inode: number
  readonly text: string
}

/** What a load must make of a file. `maybe`: it was begun, and its text is no longer what it was. */
type Match = { readonly kind: 'new' } | { readonly kind: 'known' | 'maybe'; readonly loaded: Loaded }

export interface Expected {
  readonly files: readonly SeenFile[]
  readonly matches: ReadonlyMap<SeenFile, Match>
  readonly op: string
  readonly mustRefuse: boolean
}

export interface LoadSeen {
  readonly code: string | undefined
  /** Names of inputs that Sluice called loaded. Undefined after a kill. */
  readonly alreadyLoaded: readonly boolean[] | undefined
}

type Counts = Map<string, number>

export class InputModel {
  /** The record that was touched last comes first. */
  #records: Loaded[] = []
  /** Lines that the index certainly holds. */
  readonly #certain: Counts = new Map()

  get hasOpen(): boolean {
    return this.#records.some(({ isOpen }) => isOpen)
  }

  /** Whether a load of the file was begun and not finished. */
  isOpen(named: string): boolean {
    const { inode, path } = see(named)
    return this.#records.some(one => one.isOpen && (one.inode === inode || one.path === path))
  }

  /** Whether it has another name now, or its text has changed. Then what Sluice knows of it depends on how far it came. */
  isUnclear(named: string): boolean {
    const { inode, path, text } = see(named)
    return this.#records.some(
      one =>
        one.isOpen &&
        (one.inode === inode || one.path === path) &&
        (one.path !== path || !text.startsWith(one.content)),
    )
  }

  /** Whether the load of a copy was begun. Only as long as this file stands beside it, Sluice certainly loads both. */
  hasOpenCopy(named: string): boolean {
    const { path, text } = see(named)
    return this.#records.some(one => one.isOpen && one.path !== path && text.startsWith(one.content))
  }

  /** The text that a refused file had. */
  before(named: string): string | undefined {
    const { path } = see(named)
    return this.#records.find(one => one.isOpen && one.path === path)?.content
  }

  expect(paths: readonly string[], op: string, again: boolean): Expected {
    const files: SeenFile[] = []
    for (const path of paths) {
      const file = see(path)
      if (!files.some(({ inode }) => inode === file.inode)) files.push(file)
    }
    const matches = again ? new Map<SeenFile, Match>() : this.#match(files)
    const mustRefuse = [...matches.values()].some(
      one => one.kind === 'known' && one.loaded.isOpen && one.loaded.op !== op,
    )
    return { files, matches, op, mustRefuse }
  }

  #match(files: readonly SeenFile[]): Map<SeenFile, Match> {
    const matches = new Map<SeenFile, Match>()
    const free = new Set(this.#records)
    const found = (file: SeenFile, loaded: Loaded) => {
      free.delete(loaded)
      matches.set(file, { kind: file.text.startsWith(loaded.content) ? 'known' : 'maybe', loaded })
    }
    // A number of a file that is gone may be that of another file.
    const fits = ({ path, text }: SeenFile, one: Loaded) =>
      text.startsWith(one.content) || (one.isOpen && one.path === path)
    for (const file of files) {
      const same = [...free].find(one => {
        const isMeant = one.path !== file.path || this.#isNewest(one)
        return one.inode === file.inode && isMeant && fits(file, one)
      })
      if (same !== undefined) found(file, same)
    }
    for (const file of files) {
      const same = [...free].find(one => one.path === file.path && this.#isNewest(one) && fits(file, one))
      if (!matches.has(file) && same !== undefined) found(file, same)
    }
    for (const file of files) {
      const same = [...free].find(one => file.text.startsWith(one.content) && isGone(one))
      if (!matches.has(file) && same !== undefined) found(file, same)
    }
    return matches
  }

  #isNewest(loaded: Loaded): boolean {
    return this.#records.find(({ path }) => path === loaded.path) === loaded
  }

  /** Whether the next load of these files has to come before anything else, because Sluice may know them in two ways now. */
  isUncertain({ files, matches }: Expected): boolean {
    return files.some(file => {
      const match = matches.get(file)
      if (match === undefined)
        return this.#records.some(one => !one.isOpen && (one.path === file.path || one.inode === file.inode))
      if (match.kind === 'maybe') return true
      return match.kind === 'known' && (match.loaded.path !== file.path || match.loaded.inode !== file.inode)
    })
  }

  /** Takes in a load that did not come to its end. */
  begun({ files, matches, op }: Expected): void {
    for (const file of files) {
      const match = matches.get(file) ?? { kind: 'new' }
      if (match.kind === 'new') this.#touch({ ...file, op, content: file.text, certain: '', isOpen: true })
      else if (match.loaded.content !== file.text || match.loaded.isOpen)
        this.#touch(match.loaded, { content: file.text, isOpen: true })
    }
  }

  /** Takes in a load that came to its end. Throws if the index does not hold what it must. */
  finished(expected: Expected, index: ReadonlyMap<string, number>, { alreadyLoaded }: LoadSeen): void {
    const { files, matches, op } = expected
    const maybes: { readonly file: SeenFile; readonly loaded: Loaded }[] = []
    for (const [at, file] of files.entries()) {
      const match = matches.get(file) ?? { kind: 'new' }
      const isSaid = alreadyLoaded?.[at] === true
      if (match.kind === 'maybe') maybes.push({ file, loaded: match.loaded })
      else if (match.kind === 'new') {
        if (isSaid) throw new Error(`${file.path} is wrongly called known`)
        this.#touch({ path: file.path, inode: file.inode, op, content: file.text, certain: file.text, isOpen: false })
        this.#add(file.text)
      } else {
        const { loaded } = match
        const isKnown = !loaded.isOpen && loaded.content === file.text
        if (alreadyLoaded !== undefined && !loaded.isOpen && isSaid !== isKnown)
          throw new Error(`${file.path} is called ${isSaid ? 'known' : 'new'}`)
        this.#add(file.text.slice(loaded.certain.length))
        const { path, inode, text } = file
        this.#touch(loaded, { path, inode, op, content: text, certain: text, isOpen: false })
      }
    }
    this.#settle(maybes, index, op)
  }

  /** Finds out which way Sluice went with files that changed after their load was begun. */
  #settle(
    maybes: readonly { readonly file: SeenFile; readonly loaded: Loaded }[],
    index: ReadonlyMap<string, number>,
    op: string,
  ): void {
    const [first, ...others] = maybes
    if (first === undefined) return this.check(index)
    const { file, loaded } = first
    const rest = loaded.content.slice(loaded.certain.length)
    const { text, path, inode } = file
    // Continued, or another input after one of which nothing more, or all, was loaded.
    const ways: { readonly added: string; readonly before: readonly Loaded[] }[] = []
    const isRenamed = loaded.inode !== inode
    if (!isRenamed && text.startsWith(loaded.certain))
      ways.push({ added: text.slice(loaded.certain.length), before: [] })
    ways.push(
      { added: text, before: isRenamed ? [loaded] : [] },
      { added: text + rest, before: [{ ...loaded, certain: loaded.content, isOpen: false }] },
    )
    const records = this.#records.filter(one => one !== loaded)
    const now = { path, inode, op, content: text, certain: text, isOpen: false }
    let why: unknown
    for (const { added, before } of ways) {
      this.#add(added)
      this.#records = [now, ...before, ...records]
      try {
        return this.#settle(others, index, op)
      } catch (error) {
        why ??= error
        this.#add(added, -1)
      }
    }
    throw why
  }

  /** Throws if lines are missing, or are there too often. */
  check(index: ReadonlyMap<string, number>): void {
    const possible: Counts = new Map()
    for (const { isOpen, content, certain } of this.#records)
      if (isOpen) for (const line of linesOf(content.slice(certain.length))) add(possible, line, 1)
    const problems: string[] = []
    for (const line of new Set([...this.#certain.keys(), ...possible.keys(), ...index.keys()])) {
      const least = this.#certain.get(line) ?? 0
      const most = least + (possible.get(line) ?? 0)
      const seen = index.get(line) ?? 0
      if (seen < least || seen > most)
        problems.push(`${line} is there ${seen} times, and not ${least} to ${most} times`)
    }
    if (problems.length > 0) throw new Error(`${problems.length} lines: ${problems.slice(0, 5).join('; ')}`)
  }

  #add(text: string, times = 1): void {
    for (const line of linesOf(text)) add(this.#certain, line, times)
  }

  #touch(loaded: Loaded, more: Partial<Loaded> = {}): void {
    const { path, inode, op, content, certain, isOpen } = { ...loaded, ...more }
    Object.assign(loaded, { path, inode, op, content, certain, isOpen })
    this.#records = [loaded, ...this.#records.filter(one => one !== loaded)]
  }
}

function see(path: string): SeenFile {
  return { path: realpathSync(path), inode: statSync(path).ino, text: readFileSync(path, 'utf8') }
}

/** Whether the file that was loaded is no longer there with that content. */
function isGone({ path, content }: Loaded): boolean {
  try {
    return !readFileSync(path, 'utf8').startsWith(content)
  } catch {
    return true
  }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter(line => line !== '')
}

function add(counts: Counts, line: string, times: number): void {
  counts.set(line, (counts.get(line) ?? 0) + times)
}

/** How often an index holds each line. */
export function countLines(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts: Counts = new Map()
  for (const line of lines) add(counts, line, 1)
  return counts
}
