/** Reports what happens to stderr: as text to people, or as one JSON object per line to schedulers and log collectors. */
import { visible } from '../../base/text/shown.js'
import type { LogEntry, Terminal } from './terminal.js'

/** Commands that run for long, and may run without a person. */
const logging = new Set<string | undefined>(['ingest', 'pull', 'replay', 'serve', 'tunnel'])

/** Chooses the form of stderr. Without `format`: text on a terminal and with `quiet`, for a mail, otherwise JSON. */
export async function chooseLog(
  terminal: Terminal,
  { format, quiet }: { readonly format: string | undefined; readonly quiet: boolean },
): Promise<void> {
  const { manner, stderr } = terminal
  if (!logging.has(manner.command)) return
  const isJson = format === undefined ? !quiet && !stderr.isTTY : format === 'json'
  manner.lineOf = isJson ? await jsonLines(manner) : undefined
}

async function jsonLines(manner: Terminal['manner']): Promise<(entry: LogEntry) => string> {
  const { default: pino } = await import('pino')
  let line = ''
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } },
    // A destination of pino's own would throw into the run if it cannot write.
    { write: written => (line = written) },
  )
  return ({ level, event, message, fields }) => {
    const { run } = manner
    log[level]({ event, ...(run === undefined ? {} : { run }), ...fields }, message)
    return line
  }
}

export function tell(terminal: Terminal, entry: LogEntry): void {
  const { lineOf } = terminal.manner
  if (lineOf !== undefined) return terminal.log(lineOf(entry))
  const { text = `${entry.level === 'warn' ? 'warning: ' : ''}${visible(entry.message)}\n` } = entry
  if (text !== '') terminal.err(text)
}
