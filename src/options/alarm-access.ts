import { readTrimmed } from './access.js'
import type { Effective } from './resolve.js'

/** Credentials of the alarm's own, and the instance that they are for. */
export interface AlarmAccess {
  /** Absent: the instance that is set for everything else. */
  readonly url?: string
  readonly username?: string
  readonly password?: string
  readonly clientId?: string
  readonly clientSecret?: string
  /** PEM. */
  readonly ca?: string
}

/** Undefined where the alarm has none of its own: they are never mixed with others. Throws SluiceError OPTION_INVALID. */
export async function readAlarmAccess(
  { values, origins }: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<AlarmAccess | undefined> {
  if (values.alarmUsername === undefined && values.alarmClientId === undefined) return undefined
  const read = async (name: 'alarmPasswordFile' | 'alarmClientSecretFile' | 'servicenowCa') => {
    const path = values[name]
    return path === undefined ? undefined : await readTrimmed(path, origins[name], readFile)
  }
  const given = {
    url: values.alarmUrl,
    username: values.alarmUsername,
    password: values.alarmPassword ?? (await read('alarmPasswordFile')),
    clientId: values.alarmClientId,
    clientSecret: values.alarmClientSecret ?? (await read('alarmClientSecretFile')),
    ca: await read('servicenowCa'),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
