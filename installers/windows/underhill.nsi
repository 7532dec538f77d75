; Underhill-Setup.exe: for one user, without an administrator. Built by installers/windows/build.sh, which defines
; VERSION, RELEASE (a folder), OUTPUT and KILOBYTES. Silent: /S [/GGUF] [/D=FOLDER]; the uninstaller: /S [/ALL].
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
RequestExecutionLevel user
ManifestDPIAware true
Name "Underhill"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Underhill"
InstallDirRegKey HKCU "Software\Underhill" "Folder"
BrandingText "Underhill ${VERSION}"
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "Underhill"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Underhill"
VIAddVersionKey "LegalCopyright" "the Underhill authors, Apache License 2.0"

!include "MUI2.nsh"
!include "FileFunc.nsh"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Underhill"
!define CLASSES "Software\Classes"
!define GGUF "Underhill.gguf" ; the kind of file, as Windows names such kinds: Company.Kind
!define ASSOCIATIONS_CHANGED 0x08000000 ; SHCNE_ASSOCCHANGED
!define MUI_ICON "${RELEASE}\underhill.ico"
!define MUI_UNICON "${RELEASE}\underhill.ico"
!define MUI_ABORTWARNING
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_FUNCTION Start
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_LICENSE "${RELEASE}\LICENSE"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "SimpChinese"

LangString GetPython ${LANG_ENGLISH} "Getting Python (about 25 MB)"
LangString GetPython ${LANG_SIMPCHINESE} "正在获取 Python（约 25 MB）"
LangString NoPython ${LANG_ENGLISH} "Python can't be downloaded. Check the internet connection or the proxy, then try again."
LangString NoPython ${LANG_SIMPCHINESE} "无法下载 Python。请检查网络连接或代理，然后重试。"
LangString Running ${LANG_ENGLISH} "Underhill is running. Close it, then try again."
LangString Running ${LANG_SIMPCHINESE} "Underhill 正在运行。请先关闭它再重试。"
LangString TheProgram ${LANG_ENGLISH} "Underhill and its engine"
LangString TheProgram ${LANG_SIMPCHINESE} "Underhill 及其引擎"
LangString TheFiles ${LANG_ENGLISH} "Open .gguf files with Underhill"
LangString TheFiles ${LANG_SIMPCHINESE} "用 Underhill 打开 .gguf 文件"
LangString GgufModel ${LANG_ENGLISH} "GGUF model"
LangString GgufModel ${LANG_SIMPCHINESE} "GGUF 模型"
LangString TheData ${LANG_ENGLISH} "Delete my chats, settings and models"
LangString TheData ${LANG_SIMPCHINESE} "删除我的对话、设置和模型"

Var Python

; Windows lets nobody write into a library that a program has loaded: the window's, the engine's. Nothing is changed then.
!macro StopWhereLoaded FILE
  ${If} ${FileExists} "${FILE}"
    ClearErrors
    FileOpen $0 "${FILE}" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONEXCLAMATION "$(Running)" /SD IDOK
      SetErrorLevel 4
      Abort "$(Running)"
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend
!macro StopWhereItRuns
  !insertmacro StopWhereLoaded "$INSTDIR\qt\PySide6\QtCore.pyd"
  !insertmacro StopWhereLoaded "$INSTDIR\underhill-cli.exe"
  !insertmacro StopWhereLoaded "$INSTDIR\app\engine\native\src\underhill_kernels.dll"
!macroend

; What this program has said of .gguf files goes; what others have said of them stays.
!macro ForgetFiles
  ReadRegStr $0 HKCU "${CLASSES}\.gguf" ""
  ${If} $0 == "${GGUF}"
    DeleteRegValue HKCU "${CLASSES}\.gguf" ""
  ${EndIf}
  DeleteRegValue HKCU "${CLASSES}\.gguf\OpenWithProgids" "${GGUF}"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.gguf\OpenWithProgids"
  DeleteRegKey /ifempty HKCU "${CLASSES}\.gguf"
  DeleteRegKey HKCU "${CLASSES}\${GGUF}"
  System::Call 'shell32::SHChangeNotify(i ${ASSOCIATIONS_CHANGED}, i 0, p 0, p 0)'
!macroend

Function FindPython ; sets $Python to the folder of python.exe, or ''
  StrCpy $Python ""
  ${If} ${FileExists} "$INSTDIR\python\python.exe"
    StrCpy $Python "$INSTDIR\python"
    Return
  ${EndIf}
  FindFirst $0 $1 "$INSTDIR\python\cpython-3*"
  ${If} $1 != ""
  ${AndIf} ${FileExists} "$INSTDIR\python\$1\python.exe"
    StrCpy $Python "$INSTDIR\python\$1"
  ${EndIf}
  FindClose $0
FunctionEnd

Function Start
  SetOutPath "$INSTDIR"
  Exec '"$INSTDIR\underhill.exe"'
FunctionEnd

Section "Underhill"
  SectionIn RO
  SetOutPath "$INSTDIR"
  !insertmacro StopWhereItRuns
  RMDir /r "$INSTDIR\qt"
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\packages"
  Delete "$INSTDIR\release.json" ; written last: without it the folder is no release
  File /r /x release.json "${RELEASE}\*.*"
  Call FindPython
  ${If} $Python == ""
    DetailPrint "$(GetPython)"
    nsExec::ExecToLog '"$INSTDIR\bin\uv.exe" python install --no-config --no-bin --no-registry --install-dir "$INSTDIR\python" 3.12'
    Pop $0
    Call FindPython
  ${EndIf}
  ${If} $Python == ""
    RMDir /r "$INSTDIR\app"
    RMDir /r "$INSTDIR\bin"
    RMDir /r "$INSTDIR\packages"
    RMDir /r "$INSTDIR\qt"
    RMDir /r "$INSTDIR\python"
    Delete "$INSTDIR\launch.py"
    Delete "$INSTDIR\LICENSE"
    Delete "$INSTDIR\THIRD_PARTY_NOTICES.md"
    Delete "$INSTDIR\underhill.ico"
    Delete "$INSTDIR\underhill.exe"
    Delete "$INSTDIR\underhill-cli.exe"
    SetOutPath "$TEMP" ; a folder that is current cannot be removed
    RMDir "$INSTDIR"
    MessageBox MB_OK|MB_ICONEXCLAMATION "$(NoPython)" /SD IDOK
    SetErrorLevel 3
    Abort "$(NoPython)"
  ${EndIf}
  File "${RELEASE}\release.json"
  Delete "$INSTDIR\underhill-cli.cmd" ; of 0.2.0 and before
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\Underhill.lnk" "$INSTDIR\underhill.exe"
  WriteRegStr HKCU "Software\Underhill" "Folder" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Underhill"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "the Underhill authors"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\underhill.exe"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" ${KILOBYTES}
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  !insertmacro ForgetFiles ; the section that follows says it again where it was chosen
SectionEnd

Section /o "$(TheFiles)" SectionFiles
  WriteRegStr HKCU "${CLASSES}\${GGUF}" "" "$(GgufModel)"
  WriteRegStr HKCU "${CLASSES}\${GGUF}\DefaultIcon" "" "$INSTDIR\underhill.exe,0"
  WriteRegStr HKCU "${CLASSES}\${GGUF}\shell\open\command" "" '"$INSTDIR\underhill.exe" "%1"'
  WriteRegStr HKCU "${CLASSES}\.gguf\OpenWithProgids" "${GGUF}" ""
  ReadRegStr $0 HKCU "${CLASSES}\.gguf" ""
  ${If} $0 == ""
    WriteRegStr HKCU "${CLASSES}\.gguf" "" "${GGUF}"
  ${EndIf}
  System::Call 'shell32::SHChangeNotify(i ${ASSOCIATIONS_CHANGED}, i 0, p 0, p 0)'
SectionEnd

Function .onInit ; the section is off at first; later as it was chosen
  ReadRegStr $0 HKCU "${CLASSES}\${GGUF}\shell\open\command" ""
  ${GetParameters} $1
  ClearErrors
  ${GetOptions} $1 "/GGUF" $2
  ${IfNot} ${Errors}
  ${OrIf} $0 != ""
    !insertmacro SelectSection ${SectionFiles}
  ${EndIf}
FunctionEnd

Section "un.$(TheProgram)"
  SectionIn RO
  !insertmacro StopWhereItRuns
  ; Only what the installer made: somebody may have chosen a folder with other things in it.
  RMDir /r "$INSTDIR\qt"
  RMDir /r "$INSTDIR\app"
  RMDir /r "$INSTDIR\bin"
  RMDir /r "$INSTDIR\packages"
  RMDir /r "$INSTDIR\python"
  Delete "$INSTDIR\launch.py"
  Delete "$INSTDIR\release.json"
  Delete "$INSTDIR\LICENSE"
  Delete "$INSTDIR\THIRD_PARTY_NOTICES.md"
  Delete "$INSTDIR\underhill.ico"
  Delete "$INSTDIR\underhill.exe"
  Delete "$INSTDIR\underhill-cli.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  RMDir /r "\\?\$LOCALAPPDATA\underhill\program" ; in this form paths may be longer than 260 characters, as torch's are
  Delete "$SMPROGRAMS\Underhill.lnk"
  !insertmacro ForgetFiles
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Underhill"
SectionEnd

Section /o "un.$(TheData)" SectionData
  RMDir /r "\\?\$LOCALAPPDATA\underhill"
SectionEnd

Function un.onInit
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/ALL" $1
  ${IfNot} ${Errors}
    !insertmacro SelectSection ${SectionData}
  ${EndIf}
FunctionEnd
