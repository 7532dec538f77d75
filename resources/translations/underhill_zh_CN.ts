<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
    <context>
        <name>window</name>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>dd MMMM yyyy, HH:mm</source>
            <comment>a date and time, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月d日 HH:mm</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>dd MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月d日</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>MMMM yyyy</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>yyyy年M月</translation>
        </message>
        <message>
            <location filename="../../app/language/dates.py"></location>
            <source>MMMM</source>
            <comment>a date, in the letters of Qt's QLocale</comment>
            <translation>M月</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Appearance</source>
            <translation>外观</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>How Underhill looks.</source>
            <translation>Underhill 的外观。</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Like the system</source>
            <translation>跟随系统</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Light</source>
            <translation>浅色</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Dark</source>
            <translation>深色</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>theme appearance dark light system colours</source>
            <comment>words of the search</comment>
            <translation>主题 外观 深色 浅色 跟随系统 颜色 theme dark light</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Theme</source>
            <translation>主题</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>size of text font appearance larger smaller</source>
            <comment>words of the search</comment>
            <translation>文字大小 字号 字体 放大 缩小 font size</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Size of text</source>
            <translation>文字大小</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Language</source>
            <translation>语言</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Takes effect when Underhill is started again.</source>
            <translation>重新启动 Underhill 后生效。</translation>
        </message>
        <message>
            <location filename="../../app/settings/appearance.py"></location>
            <source>Start it again now</source>
            <translation>立即重新启动</translation>
        </message>
    </context>
</TS>
