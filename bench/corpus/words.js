/** What the documents are made of. Beyond ASCII, and with what JSON has to escape: a loader that mangles these is found out. */
const vocabulary =
  'accepted account archive balance batch buffer cache cancelled certificate channel checkout client closed cluster collector ' +
  'commit connection container credential customer database deadline delivery deployment disk document expired failed fallback ' +
  'forwarded gateway granted handshake healthy index invoice issued journal lease limit loaded lookup message migrated mirror ' +
  'network opened order partition payment pending policy processed profile promoted queue quota received record refused region ' +
  'replica request resolved response restarted retry route scheduled segment session settled shard shipped signed snapshot ' +
  'stale started storage stream submitted tenant timeout token transfer updated upstream verified volume warehouse worker'

export const words = vocabulary.split(' ')

export const sentences = [
  'Die Lieferung nach Gößweinstein verzögert sich',
  'Le reçu a été envoyé à la boîte générale',
  'Η παραγγελία επιβεβαιώθηκε',
  'Заказ передан в доставку',
  'ご注文を承りました。まもなく発送します',
  '결제가 완료되었습니다',
  'تم استلام الطلب بنجاح',
  'parcel 📦 left the hub 🚚, arriving 🏠 tomorrow',
  'said "leave it at C:\\door\\2"\nand hung up\t(twice)',
  'line separators \u2028 and \u2029 stay as they are',
]

export const services = ['checkout', 'billing', 'catalogue', 'identity', 'search', 'shipping', 'stock', 'mailer']
export const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']
export const statuses = [200, 200, 200, 200, 201, 202, 204, 301, 304, 400, 401, 403, 404, 404, 409, 429, 500, 502, 503]
export const levels = ['debug', 'info', 'info', 'info', 'info', 'warn', 'error']
export const regions = ['eu-central-1', 'eu-west-1', 'us-east-1', 'us-west-2', 'ap-northeast-1']

export const phrase = (random, count) => random.list(count, () => random.pick(words)).join(' ')

export const address = random => `10.${random.below(256)}.${random.below(256)}.${random.below(254) + 1}`

/** Times that go forward by 0 to 39 ms, from the first of January 2026 on. */
export function clock(random) {
  let at = Date.UTC(2026, 0, 1)
  return () => new Date((at += random.below(40))).toISOString()
}
