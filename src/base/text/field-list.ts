/** Returns the fields that a list names: `branch,order.no` has two. A comma in a name is written as `\,`. */
export function fieldsIn(list: string): readonly string[] {
  return list.split(/\s*(?<!\\),\s*/).map(name => name.replaceAll('\\,', ','))
}
