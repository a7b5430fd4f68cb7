{# dbt asks Delta to create or replace, which fails in a session with Hudi's extension. #}
{% macro spark__create_table_as(temporary, relation, sql, language='sql') %}
create table {{ relation }} {{ file_format_clause() }} {{ location_clause() }} as {{ sql }}
{% endmacro %}
