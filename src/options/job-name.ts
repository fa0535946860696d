/** It becomes part of a key at the platform, which keeps a hundred characters of it, and of a query there. */
const MOST = 90

/** What is wrong with a job's name, if anything. */
export function jobProblem(name: string): string | undefined {
  return /^\w[\w.-]*$/.test(name) && name.length <= MOST
    ? undefined
    : `is not 1 to ${MOST} letters, digits, and . _ - that begin with a letter or digit`
}
