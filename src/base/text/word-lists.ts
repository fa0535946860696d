/** Lists names for a sentence: "create, index or delete". */
export function anyOf(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} or ${last}`
}

/** Returns the candidate that a person most likely meant, if any is near. */
export function nearest<T extends string>(word: string, candidates: readonly T[]): T | undefined {
  const allowed = Math.max(1, Math.floor(word.length / 3))
  const scored = candidates.map(candidate => ({ candidate, distance: distance(plain(word), plain(candidate)) }))
  const best = scored.sort((a, b) => a.distance - b.distance)[0]
  if (best !== undefined && best.distance <= allowed) return best.candidate
  return word.length < 3 ? undefined : candidates.find(candidate => plain(candidate).startsWith(plain(word)))
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

/** Counts insertions, deletions and replacements between two words (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** Returns the fields that a list names: `branch,order.no` has two. A comma in a name is written as `\,`. */
export function fieldsIn(list: string): readonly string[] {
  return list.split(/\s*(?<!\\),\s*/).map(name => name.replaceAll('\\,', ','))
}
