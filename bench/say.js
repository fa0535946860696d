/** Progress goes to stderr, so that stdout holds the result alone. */
export function say(text) {
  process.stderr.write(`${text}\n`)
}
