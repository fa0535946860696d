/** Offers to register the static addresses at Elastic Cloud, if the IP filter refuses them. */
import type { Finding } from '../../../programs/doctor/report.js'
import type { FilterOptions } from '../../../programs/filter/filter.js'
import { isSluiceError } from '../../../base/failure/failure.js'
import { connectOptions } from '../../settings/library-options.js'
import { knownSecrets, masked } from '../../../base/secrets.js'
import { readAdminKey, refuseUnseenAddresses } from '../../settings/option-files.js'
import { projectTypeOf } from '../filter.js'
import { loadAccess } from '../../application/load-options.js'
import { showFilter } from '../../application/show-filter.js'
import { keepSecrets } from '../../terminal/terminal.js'
import { type Dialog, resolved } from './set-up.js'

/** `confirm`: asks a person, also before each change that may surprise. `isUnseen`: it asks nobody. */
export function registering(confirm: FilterOptions['confirm'], isUnseen: boolean): Dialog['register'] {
  return async (dialog, answers, { code }: Finding) => {
    const { terminal, line, signal } = dialog
    let effective = await resolved(dialog, answers)
    let next = answers
    const { adminKey, adminKeyFile } = effective.values
    if (adminKey === undefined && adminKeyFile === undefined) return false
    for (const [name, question] of [
      ['staticIps', 'Your two static addresses, with a comma between them:'],
      ['deployment', 'Id of the Elastic Cloud deployment, from the URL of its page in the console:'],
    ] as const) {
      if (effective.values[name] !== undefined || (name === 'deployment' && effective.values.project !== undefined))
        continue
      const answer = (await line?.(`To register the static addresses now, Sluice needs this. ${question}`)) ?? ''
      if (answer === '') return false
      next = { ...next, [name]: answer }
      effective = await resolved(dialog, next)
    }
    const { values } = effective
    if (isUnseen) refuseUnseenAddresses(effective)
    const isWanted = await confirm({
      what: `allow ${(values.staticIps ?? []).join(' and ')} in the IP filter of ${values.project ?? values.deployment}`,
      difference: ['+ an IP filter policy with both addresses, created if none exists, and attached'],
      consequence:
        code === 'FILTER_NOT_ENFORCED'
          ? 'Elastic Cloud then refuses requests from all other addresses that no attached policy allows'
          : 'other policies stay as they are',
    })
    if (isWanted !== true) return false
    try {
      const key = await readAdminKey(effective)
      keepSecrets(terminal, knownSecrets({ apiKey: key }))
      const { openFilter } = await import('../../../programs/filter/filter.js')
      const timeoutMs = Math.min(values.timeoutMs, 30_000)
      await using filter = openFilter({
        admin: { url: new URL(values.adminUrl), key, timeoutMs, signal, projectType: projectTypeOf(values) },
        values,
        way: { ...connectOptions(effective, await loadAccess(effective, terminal)), signal },
        timeoutMs,
        confirm,
      })
      for (const task of ['create', 'attach'] as const) {
        terminal.err(showFilter(masked(await filter[task](), terminal.manner.secrets)))
      }
      return next
    } catch (error) {
      if (line === undefined || !isSluiceError(error) || signal.aborted) throw error
      terminal.err(`${error.message}\n`)
      return false
    }
  }
}
