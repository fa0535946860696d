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

/** Whether the alarm has none of its own: then it uses those of the platform. */
export function sharesAccess({ values }: Effective): boolean {
  return values.alarmUsername === undefined && values.alarmClientId === undefined
}

/** Undefined where the alarm has none of its own: they are never mixed with others. Throws SluiceError OPTION_INVALID. */
export async function readAlarmAccess(
  effective: Effective,
  readFile: (path: string) => Promise<string>,
): Promise<AlarmAccess | undefined> {
  if (sharesAccess(effective)) return undefined
  const { values, origins } = effective
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
