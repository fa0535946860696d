import type { DocumentSection } from '../options/load.js'
import type { BatchIds } from '../sender/send.js'
import type { HookList } from './hook-list.js'
import type { RunHook } from './hooks.js'

/** Returns what hooks say of the sender. */
export function sendingOf({ all }: HookList): NonNullable<RunHook['sending']> {
  return Object.assign({}, ...all.map(({ sending }) => sending)) as NonNullable<RunHook['sending']>
}

/** Returns whose ids documents get, and whether Sluice sends them again if their answer was lost. */
export function idsOf({ ids, resendUnknown }: DocumentSection, hooks: HookList): BatchIds {
  const { ownIds = ids.from === 'run', safeToResend = ids.from !== 'cluster' || resendUnknown } = sendingOf(hooks)
  return { ownIds, safeToResend }
}
