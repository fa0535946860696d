/** A share from 0 to 1 as text: whole percents, below ten the first digit that counts. */
export function percent(share: number): string {
  const hundredths = share * 100
  return `${hundredths >= 10 ? Math.round(hundredths) : Number(hundredths.toPrecision(1))} %`
}
