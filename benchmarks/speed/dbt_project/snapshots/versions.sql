{% snapshot versions %}
{{ config(
    alias=var('alias'), location_root=var('root'), file_format='delta',
    strategy='timestamp', unique_key=var('key'), updated_at=var('changed_at')
) }}
select {{ var('columns') }} from (
    select *, row_number() over (
        partition by {{ var('key') }} order by {{ var('changed_at') }} desc
    ) as nth
    from parquet.`{{ var('landed') }}`
)
where nth = 1
{% endsnapshot %}
