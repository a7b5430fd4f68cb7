SELECT
  c.start, c.stop, c.patient, c.encounter, c.code, c.description,
  p.birthdate, p.marital, p.race, p.ethnicity, p.gender,
  datediff(c.start, p.birthdate) AS age_in_days
FROM {{ current('clinic.conditions') }} AS c
JOIN {{ current('clinic.patients') }} AS p ON p.id = c.patient
WHERE lower(c.description) LIKE '%sinusitis%'
  AND p.marital IS NOT NULL
  AND p.race IS NOT NULL
  AND p.ethnicity IS NOT NULL
  AND p.gender IS NOT NULL
